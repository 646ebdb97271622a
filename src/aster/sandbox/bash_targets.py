"""Where the words of a script lead: which files a command may touch, from every directory the script may be in.

A place that cannot be known counts as outside; a directory that a `cd` may or may not have entered counts as well
as the one before it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from aster.sandbox.bash_analysis import Kind, Word
from aster.sandbox.paths import PathRefused, Workspace

SUBSTANTIAL_BYTES = 4096
_LOOKED_AT = 1000


@dataclass(frozen=True, slots=True)
class Operands:
    """A command's options and operands, told apart as most programs do."""

    options: tuple[str, ...]
    operands: tuple[Word, ...]

    def short(self, *letters: str) -> bool:
        clusters = [option[1:] for option in self.options if not option.startswith("--")]
        return any(letter in cluster for cluster in clusters for letter in letters)

    def has(self, *options: str) -> bool:
        return any(
            given == option or given.startswith(f"{option}=") for given in self.options for option in options
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
    return Operands(tuple(options), tuple(rest))


class Targets:
    """Judges targets for one script in one workspace. Its methods yield sentences about what is at stake."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._directories: list[Path | None] = [workspace.cwd]

    def enter(self, target: Word | None) -> None:
        """The script may have changed its directory: to `target`, or home."""
        self._directories += [self._workspace.home] if target is None else self.places(target)

    def places(self, target: Word) -> list[Path | None]:
        """Where a word may lead; of a glob, the directory in which it begins; None for unknown."""
        if target.kind is Kind.DYNAMIC:
            return [None]
        text = target.text
        if target.kind is Kind.GLOB:
            text = target.fixed[: target.fixed.rfind("/") + 1] or "."
        if text.startswith("~") and not target.tilde:
            text = f"./{text}"
        bases = [self._workspace.cwd] if text.startswith(("/", "~")) else self._directories
        return [self._locate(text, base) for base in bases]

    def inside(self, target: Word) -> bool:
        """Whether a target surely is below a root and not a root itself."""
        return all(place is not None and self._workspace.strictly_inside(place) for place in self.places(target))

    def changes(self, verb: str, target: Word) -> Iterator[str]:
        """Something is changed where it is, which is worth a question only outside the roots."""
        if target.literal and any(self._outside(place) for place in self.places(target)):
            yield f"{verb} changes {target.text}, outside the workspace"

    def writes(self, verb: str, target: Word, truncates: bool = True) -> Iterator[str]:
        """A file is written: outside the roots, or over something of substance."""
        if not target.literal:
            if truncates:
                yield f"{verb} may overwrite {target.text}, which is only known at run time"
            return
        for place in self.places(target):
            if self._outside(place):
                yield f"{verb} writes to {target.text}, outside the workspace"
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

    def _substantial(self, path: Path) -> bool:
        if not self._workspace.contains(path):
            return False
        try:
            return path.is_file() and path.stat().st_size > SUBSTANTIAL_BYTES
        except OSError:
            return False

    def _locate(self, text: str, base: Path | None) -> Path | None:
        try:
            return None if base is None else self._workspace.locate(text, base)
        except PathRefused:
            return None


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
