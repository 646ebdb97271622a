"""What in a script a person should be asked about: deletion, overwriting and rewriting that cannot be taken back.

Commands inside other commands are judged like the others (`bash_unfold`); what is only known at run time counts as
the worst it could be. The sandbox is the wall; this is the question before the wall.
"""

from collections.abc import Iterator

from aster.sandbox.bash_analysis import Redirect, SimpleCommand
from aster.sandbox.bash_code import code_hazards, data_hazards
from aster.sandbox.bash_effect import harmless
from aster.sandbox.bash_scripts import scripts
from aster.sandbox.bash_systems import DISKS
from aster.sandbox.bash_targets import Targets, operands
from aster.sandbox.bash_unfold import Unfolded, unfold
from aster.sandbox.bash_verbs import JUDGEMENTS
from aster.sandbox.bash_words import listed
from aster.sandbox.paths import Workspace

_DISKS = tuple(DISKS)
_RESETS = listed(
    "db:drop db:reset db:wipe db:drop:all migrate:fresh migrate:reset migrate:refresh db:migrate:reset"
)


def hazards(command: str, workspace: Workspace) -> list[str]:
    """Sentences that say what the command might destroy; empty when nothing was found."""
    found, targets = unfold(command), Targets(workspace)
    sentences = [*found.notes, *_found(found, targets)]
    for each in found.commands:
        for name, inside in scripts(each, targets):
            sentences += [f"in {name}, {sentence}" for sentence in _found(inside, targets.inner())]
    return list(dict.fromkeys(sentences))


def _found(found: Unfolded, targets: Targets) -> Iterator[str]:
    for each in found.commands:
        if each.name in ("cd", "pushd"):
            entered = operands(each.arguments).operands
            targets.enter(entered[0] if entered else None)
    for each in found.commands:
        yield from _command(each, targets)
    for redirect in found.redirects:
        yield from _redirect(redirect, targets)


def _command(command: SimpleCommand, targets: Targets) -> Iterator[str]:
    name = command.program
    if name is None:
        return
    if name == "find":
        yield from _find(command, targets)
    elif name.startswith(_DISKS):
        if not any(word.text in ("-l", "--list", "--help", "-V") for word in command.arguments):
            yield f"{name} destroys what is on a disk"
    elif name in JUDGEMENTS:
        yield from JUDGEMENTS[name](targets, command.arguments)
    if any(word.text in _RESETS for word in command.arguments) or _flushes(command):
        yield f"{name} empties a database"
    yield from code_hazards(name, command, targets)
    yield from data_hazards(name, command)


def _flushes(command: SimpleCommand) -> bool:
    """What web frameworks call it."""
    words = [word.text for word in command.words]
    managed = any(word.endswith("manage.py") for word in words) and bool({"flush", "reset_db"} & set(words))
    return managed or ("prisma" in words and "reset" in words)


def _find(command: SimpleCommand, targets: Targets) -> Iterator[str]:
    arguments = command.arguments
    for at, argument in enumerate(arguments):
        if argument.text == "-delete":
            yield "find deletes everything it finds"
        elif argument.text in ("-fprint", "-fprint0", "-fprintf", "-fls"):
            for target in arguments[at + 1 : at + 2]:
                yield from targets.writes("find", target)


def _redirect(redirect: Redirect, targets: Targets) -> Iterator[str]:
    if redirect.target is not None and not harmless(redirect):
        yield from targets.writes("a redirection", redirect.target, truncates=not redirect.operator.endswith(">>"))
