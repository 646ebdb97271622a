"""What in a script a person should be asked about: deletion, overwriting and rewriting that cannot be taken back.

Commands inside other commands (`env rm`, `bash -c '…'`, `find -exec`) are judged like the others; what is only
known at run time counts as the worst it could be. The sandbox is the wall; this is the question before the wall.
"""

from collections.abc import Iterator
from itertools import islice, takewhile

from aster.sandbox.bash_analysis import Redirect, Script, SimpleCommand, Word, parse
from aster.sandbox.bash_effect import harmless
from aster.sandbox.bash_targets import Targets, operands
from aster.sandbox.bash_verbs import JUDGEMENTS, REMOVERS
from aster.sandbox.paths import Workspace

_DEPTH = 5
_SHELLS = frozenset(("ash", "bash", "dash", "fish", "ksh", "sh", "zsh"))
# Programs that run the rest of their arguments; every suffix of these is judged as if it were the command.
_RUNNERS = """
    busybox builtin chroot chrt command coproc doas env exec flock gosu ionice nice nohup nsenter parallel pkexec
    prlimit proot runuser setarch setpriv setsid stdbuf strace su sudo taskset time timeout toybox unbuffer unshare
    watch xargs
"""
_WRAPPERS = frozenset(_RUNNERS.split())
_FEEDERS = frozenset(("xargs", "parallel"))
_SUPERUSER = frozenset(("sudo", "doas", "pkexec", "su", "runuser"))
_DISKS = ("mkfs", "mke2fs", "mkswap", "wipefs", "fdisk", "sfdisk", "parted", "sgdisk", "blkdiscard")
_FIND_RUNS = frozenset(("-exec", "-execdir", "-ok", "-okdir"))
_DESTRUCTIVE = frozenset(("--recursive", "--force", "--delete", "--hard", "-delete"))


def hazards(command: str, workspace: Workspace) -> list[str]:
    """Sentences that say what the command might destroy; empty when nothing was found."""
    return list(dict.fromkeys(_script(parse(command), Targets(workspace), 0)))


def _script(script: Script, targets: Targets, depth: int) -> Iterator[str]:
    if not script.understood:
        yield "it contains shell syntax that could not be analysed"
    for command in script.commands:
        _note_directory(command, targets)
    for command in script.commands:
        yield from _command(command, targets, depth)
    for redirect in script.redirects:
        yield from _redirect(redirect, targets)


def _note_directory(command: SimpleCommand, targets: Targets) -> None:
    if command.name in ("cd", "pushd"):
        entered = operands(command.arguments).operands
        targets.enter(entered[0] if entered else None)


def _command(command: SimpleCommand, targets: Targets, depth: int) -> Iterator[str]:
    name, arguments = command.name, command.arguments
    if depth > _DEPTH:
        yield "it nests commands too deeply to be analysed"
    elif name is None:
        if command.words[0].splits or any(map(_destructive, arguments)):
            yield f"it runs {command.words[0].text}, a command that is only known at run time"
    elif name in _WRAPPERS:
        yield from _wrapper(name, arguments, targets, depth)
    elif name in _SHELLS:
        yield from _shell(name, arguments, targets, depth)
    elif name in ("eval", "trap"):
        yield from _nested(name, arguments if name == "eval" else arguments[:1], targets, depth)
    elif name == "find":
        yield from _find(arguments, targets, depth)
    elif name.startswith(_DISKS):
        yield f"{name} destroys what is on a disk"
    elif name in JUDGEMENTS:
        yield from JUDGEMENTS[name](targets, arguments)


def _wrapper(name: str, arguments: tuple[Word, ...], targets: Targets, depth: int) -> Iterator[str]:
    """All wrappers in a row are taken together, or their number would multiply the work."""
    for start in range(-1, len(arguments)):
        inner = SimpleCommand(arguments[start:]) if start >= 0 else SimpleCommand((Word(name), *arguments))
        if inner.name not in _WRAPPERS:
            yield from _command(inner, targets, depth + 1)
            continue
        if inner.name in _SUPERUSER:
            yield f"{inner.name} asks for the rights of another user"
        if inner.name in _FEEDERS:
            yield from _fed(inner.name, inner.arguments)
        if inner.name == "command" and inner.arguments and inner.arguments[0].text in ("-v", "-V"):
            return


def _find(arguments: tuple[Word, ...], targets: Targets, depth: int) -> Iterator[str]:
    rest = iter(arguments)
    for argument in rest:
        if argument.text == "-delete":
            yield "find deletes everything it finds"
        elif argument.text in _FIND_RUNS:
            run = tuple(takewhile(lambda word: word.text not in (";", "+"), rest))
            yield from _fed("find", run[:1])
            if run:
                yield from _command(SimpleCommand(run), targets, depth + 1)
        elif argument.text in ("-fprint", "-fprint0", "-fprintf", "-fls"):
            for target in islice(rest, 1):
                yield from targets.writes("find", target)


def _fed(name: str, arguments: tuple[Word, ...]) -> Iterator[str]:
    """`xargs rm`: the targets come from elsewhere."""
    for argument in arguments:
        program = SimpleCommand((argument,)).name
        if program in REMOVERS:
            yield f"{name} gives {program} targets that are only known at run time"


def _shell(name: str, arguments: tuple[Word, ...], targets: Targets, depth: int) -> Iterator[str]:
    for index, argument in enumerate(arguments):
        if argument.literal and argument.text.startswith("-") and "c" in argument.text.partition("--")[0]:
            script = [word for word in arguments[index + 1 :] if not word.text.startswith(("-", "+"))]
            yield from _nested(f"{name} -c", tuple(script[:1]), targets, depth)
            return
    given = operands(arguments)
    if not given.operands and not given.has("--version", "--help"):
        yield f"{name} runs commands that it reads from its input"


def _nested(name: str, words: tuple[Word, ...], targets: Targets, depth: int) -> Iterator[str]:
    if all(word.literal for word in words):
        yield from _script(parse(" ".join(word.text for word in words)), targets, depth + 1)
    else:
        yield f"{name} runs a script that is only known at run time"


def _redirect(redirect: Redirect, targets: Targets) -> Iterator[str]:
    if redirect.target is not None and not harmless(redirect):
        yield from targets.writes("a redirection", redirect.target, truncates=not redirect.operator.endswith(">>"))


def _destructive(argument: Word) -> bool:
    text = argument.text
    cluster = text.startswith("-") and not text.startswith("--") and any(letter in text for letter in "rRf")
    return argument.splits or cluster or text in _DESTRUCTIVE
