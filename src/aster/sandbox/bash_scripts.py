"""Shell scripts in the workspace that a command runs: what they do is asked about as if it stood in the command.

Only what is certain counts. A script is full of variables that mean nothing until it runs; asking about every one
of them would make people stop reading the question.
"""

from collections.abc import Iterator

from aster.sandbox.bash_analysis import SimpleCommand
from aster.sandbox.bash_targets import Targets
from aster.sandbox.bash_unfold import SHELLS, Unfolded, unfold
from aster.sandbox.bash_words import Kind, Word

_MOST_BYTES = 65_536


def scripts(command: SimpleCommand, targets: Targets) -> Iterator[tuple[str, Unfolded]]:
    """The scripts a command runs, by name, as far as they can be read and are certain."""
    for word in _named(command):
        text = targets.text(word, _MOST_BYTES) if word.literal else None
        if text is not None and (command.words[0] is not word or _is_shell(text, word.text)):
            yield word.text, _certain(unfold(text))


def _named(command: SimpleCommand) -> tuple[Word, ...]:
    name = command.program
    if name in ("source", "."):
        return command.arguments[:1]
    if name in SHELLS:
        operands = [word for word in command.arguments if not word.text.startswith(("-", "+"))]
        return tuple(operands[:1]) if not any("c" in word.text for word in _short(command)) else ()
    return command.words[:1] if "/" in command.words[0].text else ()


def _short(command: SimpleCommand) -> Iterator[Word]:
    return (word for word in command.arguments if word.text.startswith("-") and not word.text.startswith("--"))


def _is_shell(text: str, name: str) -> bool:
    """Whether a file that is run by its name is a shell script."""
    first = text.partition("\n")[0]
    interpreter = first.removeprefix("#!").split()[-1:] if first.startswith("#!") else []
    return name.endswith(".sh") if not interpreter else interpreter[0].rpartition("/")[2] in SHELLS


def _certain(found: Unfolded) -> Unfolded:
    commands = [each for each in found.commands if all(word.kind is not Kind.DYNAMIC for word in each.words)]
    redirects = [each for each in found.redirects if each.target is not None and each.target.literal]
    return Unfolded(list(commands), list(redirects), [])
