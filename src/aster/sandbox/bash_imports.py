"""Python in a command that imports one of the engine's tools, as if a tool were a module.

Models do that, and the error they would get sends them looking for a package. Only what is certain counts: a name
that the workspace or Python itself has, a guarded import, or an environment of the command's own is let through, and
so is a name of one word, which may well be a package.
"""

import ast
import sys
from collections.abc import Collection, Iterator

from aster.sandbox.bash_analysis import SimpleCommand
from aster.sandbox.bash_code import given_code, language
from aster.sandbox.bash_targets import Targets, operands
from aster.sandbox.bash_unfold import unfold
from aster.sandbox.bash_words import Word
from aster.sandbox.paths import Workspace

_MOST_BYTES = 65_536
_PYTHONS = frozenset(("python", "pypy"))


def may_run_python(command: str) -> bool:
    """Whether a closer look is worth its time."""
    return any(name in command for name in _PYTHONS)


def imported_tool(command: str, tools: Collection[str], workspace: Workspace) -> str | None:
    """The tool that Python code in this command, or in a file that it runs, would import."""
    if "PYTHONPATH" in command or "activate" in command:
        return None
    found = unfold(command)
    if not any(_is_python(each) for each in found.commands):
        return None
    targets = Targets(workspace)
    for each in found.commands:
        if each.name in ("cd", "pushd"):
            targets.enter(next(iter(operands(each.arguments).operands), None))
    names = {name for name in tools if "_" in name} - sys.stdlib_module_names
    for each in found.commands:
        for code in _code(each, targets):
            for name in sorted(names):
                if name in code and "sys.path" not in code and name in _imports(code) and not _has(targets, name):
                    return name
    return None


def _is_python(command: SimpleCommand) -> bool:
    """Python as the system has it, and not one with packages of its own."""
    return command.name is not None and "/" not in command.name and language(command.name) in _PYTHONS


def _code(command: SimpleCommand, targets: Targets) -> Iterator[str]:
    """What may be run as Python: a document, the program on the command line, or the file named there."""
    if command.document is not None:
        yield command.document
    if not _is_python(command):
        return
    inline = given_code(command)
    if inline is not None:
        yield inline.text
        return
    script = next((word for word in command.arguments if not word.text.startswith("-")), None)
    text = targets.text(script, _MOST_BYTES) if script is not None and script.literal else None
    if text is not None:
        yield text


def _imports(code: str) -> set[str]:
    """The modules that are imported whatever happens."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError):
        return set()
    names: set[str] = set()
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Import):
            names.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.partition(".")[0])
        elif not isinstance(node, ast.Try):
            pending.extend(ast.iter_child_nodes(node))
    return names


def _has(targets: Targets, name: str) -> bool:
    """Whether the workspace has a module of this name where Python would look."""
    places = [place for suffix in ("", ".py") for place in targets.places(Word(f"{name}{suffix}"))]
    return any(place is None or place.exists() for place in places)
