"""Where the words of a script lead: which files a command may touch, from every directory the script may be in.

A place that cannot be known counts as outside; a directory that a `cd` may or may not have entered counts as well
as the one before it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from aster.sandbox.bash_words import Kind, Word, listed
from aster.sandbox.paths import PathRefused, Workspace

SUBSTANTIAL_BYTES = 4096
_LOOKED_AT = 1000
_MOST_DIRECTORIES = 8
_STARTUP = listed(
    ".bashrc .bash_profile .bash_login .bash_logout .profile .zshrc .zshenv .zprofile .gitconfig .inputrc"
)


@dataclass(frozen=True, slots=True)
class Operands:
    """A command's options and operands, told apart as most programs do; `dashes` says that a `--` parted them."""

    options: tuple[str, ...]
    operands: tuple[Word, ...]
    dashes: bool = False

    def short(self, *letters: str) -> bool:
        clusters = [option[1:] for option in self.options if not option.startswith("--")]
        return any(letter in cluster for cluster in clusters for letter in letters)

    def has(self, *options: str) -> bool:
        """Whether one of these was given, perhaps shortened, as most programs accept it."""
        given = [option.partition("=")[0] for option in self.options]
        return any(
            name == option or (len(name) > 3 and name.startswith("--") and option.startswith(name))
            for name in given
            for option in options
        )


def operands(arguments: tuple[Word, ...]) -> Operands:
    options: list[str] = []
    rest: list[Word] = []
    ended = False
    for argument in arguments:
        if argument.literal and argument.text == "--" and not ended:
            ended = True
        elif argument.literal and argument.text.startswith("-") and len(argument.text) > 1 and not ended:
            options.append(argument.text)
        else:
            rest.append(argument)
    return Operands(tuple(options), tuple(rest), ended)


class Targets:
    """Judges targets for one script in one workspace. Its methods yield sentences about what is at stake."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._directories: list[Path | None] = [workspace.cwd]
        self._links: set[str] = set()

    def inner(self) -> "Targets":
        """For a script that is run: it may begin in any directory the one that runs it may be in."""
        inside = Targets(self._workspace)
        inside._directories = list(self._directories)
        return inside

    def text(self, target: Word, limit: int) -> str | None:
        """What is in a file of the workspace, if it is a text and not a long one."""
        for place in self.places(target):
            if place is not None and self._workspace.contains(place):
                try:
                    if place.is_file() and place.stat().st_size <= limit:
                        return place.read_bytes().decode()
                except (OSError, UnicodeDecodeError):
                    continue
        return None

    def enter(self, target: Word | None) -> None:
        """The script may have changed its directory: to `target`, or home."""
        entered = [None] if target is None else self.places(target)
        known = list(dict.fromkeys([*self._directories, *entered]))
        self._directories = known if len(known) <= _MOST_DIRECTORIES else [*known[:_MOST_DIRECTORIES], None]

    def places(self, target: Word) -> list[Path | None]:
        """Where a word may lead; of a glob, the directory in which it begins; None for unknown. Home is unknown on
        purpose: whoever says `~` means a person's, whatever it is in the sandbox."""
        if target.kind is Kind.DYNAMIC or target.tilde or self._through_link(target):
            return [None]
        text = target.text
        if target.kind is Kind.GLOB:
            text = target.fixed[: target.fixed.rfind("/") + 1] or "."
        if text.startswith("~"):
            text = f"./{text}"
        bases = [self._workspace.cwd] if text.startswith("/") else self._directories
        return [self._locate(text, base) for base in bases]

    def lead_out(self, link: Word) -> None:
        """The script makes a link that leads out of the workspace: what is reached through it is elsewhere."""
        self._links.add(link.text.removeprefix("./").rstrip("/"))

    def _through_link(self, target: Word) -> bool:
        text = target.text.removeprefix("./")
        return any(text.startswith(f"{link}/") for link in self._links)

    def inside(self, target: Word) -> bool:
        """Whether a target surely is below a root and not a root itself."""
        return all(place is not None and self._workspace.strictly_inside(place) for place in self.places(target))

    def there(self, target: Word) -> bool:
        """Whether there is something by this name."""
        return target.literal and any(place is not None and place.exists() for place in self.places(target))

    def exists(self, target: Word) -> bool:
        """Whether the target surely is a file that is there."""
        return target.literal and all(place is not None and place.is_file() for place in self.places(target))

    def changes(self, verb: str, target: Word) -> Iterator[str]:
        """Something is changed where it is, which is worth a question only outside the roots."""
        if target.kind is not Kind.DYNAMIC and any(self._outside(place) for place in self.places(target)):
            yield f"{verb} changes {target.text}, outside the workspace"

    def history(self, verb: str, target: Word) -> Iterator[str]:
        """What git knows of the past is worth a question wherever it is."""
        for place in self.places(target):
            if place is not None and ".git" in place.parts:
                yield f"{verb} {target.text}, which holds the history of a repository"

    def writes(self, verb: str, target: Word, truncates: bool = True) -> Iterator[str]:
        """A file is written: outside the roots, or over something of substance."""
        if not target.literal:
            if truncates or target.unknown:
                yield f"{verb} may overwrite {target.text}, which is only known at run time"
            return
        for place in self.places(target):
            if self._outside(place):
                yield f"{verb} writes to {target.text}, outside the workspace"
            elif place is not None and self._runs_later(place):
                yield f"{verb} writes to {target.text}, which other programs run by themselves"
            elif truncates and place is not None and self._substantial(place):
                yield f"{verb} overwrites {target.text}, which has more than {SUBSTANTIAL_BYTES:,} bytes"

    def receives(self, verb: str, target: Word, sources: tuple[Word, ...]) -> Iterator[str]:
        """Like `writes`; a directory that exists gets the sources under their own names."""
        if not target.literal:
            yield from self.writes(verb, target)
            return
        for place in self.places(target):
            if self._outside(place):
                yield f"{verb} writes to {target.text}, outside the workspace"
            elif place is not None and any(map(self._substantial, _landing(place, sources))):
                yield f"{verb} replaces something in {target.text} that has more than {SUBSTANTIAL_BYTES:,} bytes"

    def _outside(self, place: Path | None) -> bool:
        return place is None or not self._workspace.writable(place)

    def _runs_later(self, place: Path) -> bool:
        """Files that a shell, git or ssh reads and obeys when they are next started."""
        hook = ".git" in place.parts and ("hooks" in place.parts or place.name == "config")
        return hook or ".ssh" in place.parts or (place.parent == self._workspace.home and place.name in _STARTUP)

    def _substantial(self, path: Path) -> bool:
        if not self._workspace.contains(path):
            return False
        try:
            return path.is_file() and path.stat().st_size > SUBSTANTIAL_BYTES
        except OSError:
            return False

    def _locate(self, text: str, base: Path | None) -> Path | None:
        """Where a text leads; one that climbs out of the roots is nowhere in particular, even in the scratch."""
        try:
            place = None if base is None else self._workspace.locate(text, base)
        except PathRefused:
            return None
        absolute = text.startswith("/")
        climbs = place is not None and base is not None and not absolute and self._workspace.contains(base)
        return None if climbs and place is not None and not self._workspace.contains(place) else place


def _landing(place: Path, sources: tuple[Word, ...]) -> Iterator[Path]:
    """The files that may be replaced; a source whose name is unknown may have the name of any."""
    if not place.is_dir():
        yield place
        return
    for source in sources:
        if source.literal:
            yield place / Path(source.text).name
        else:
            yield from (entry for _, entry in zip(range(_LOOKED_AT), place.iterdir(), strict=False))
