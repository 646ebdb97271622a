"""What a shell script says it will do, read from its syntax tree and never from its characters.

The structure keeps apart what is certain (literal words) and what the shell will only know when it runs (dynamic
words, globs); whoever judges the script treats the second kind, and whatever could not be parsed, as unknown.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from threading import local

import tree_sitter
import tree_sitter_bash
from tree_sitter import Node

from aster.sandbox.bash_words import Word, text_of, word

_own = local()
_MOST_NODES = 50_000
_MOST_COMMANDS = 300
_RESERVED = "! { } [[ ]] if then elif else fi for while until do done case esac in function select"
_ONE_LINE = frozenset(("command", "redirected_statement", "file_redirect", "declaration_command"))


@dataclass(frozen=True, slots=True)
class Redirect:
    """Input or output sent elsewhere; `target` is None for heredocs and here-strings."""

    operator: str
    target: Word | None = None


@dataclass(frozen=True, slots=True)
class SimpleCommand:
    """A program name and its arguments, as the shell would start it. `fed` says that something is piped into it,
    `document` is the text it is given to read in the script itself."""

    words: tuple[Word, ...]
    fed: bool = False
    document: str | None = None

    @property
    def name(self) -> str | None:
        """The program, without its directory if that is a usual one; None when it is only known at run time."""
        first = self.words[0]
        if not first.literal:
            return None
        directory, _, base = first.text.rpartition("/")
        return base if directory in ("/bin", "/usr/bin", "/sbin", "/usr/sbin", "/usr/local/bin") else first.text

    @property
    def program(self) -> str | None:
        """The name, also without any other absolute directory: what the program is called, not what it is."""
        name = self.name
        return name.rpartition("/")[2] if name is not None and name.startswith("/") else name

    @property
    def arguments(self) -> tuple[Word, ...]:
        return self.words[1:]


@dataclass(frozen=True, slots=True)
class Binding:
    """A variable gets a value; `value` is None when that is not a word of the script."""

    name: str
    value: Word | None = None


@dataclass(frozen=True, slots=True)
class Script:
    """Everything in a script, however deeply nested. `understood` is False after any error in the parse,
    `recursive` names functions that call themselves."""

    commands: tuple[SimpleCommand, ...]
    redirects: tuple[Redirect, ...]
    assignments: tuple[str, ...]
    bindings: tuple[Binding, ...]
    recursive: tuple[str, ...]
    functions: tuple[str, ...]
    substitutions: bool
    background: bool
    understood: bool


@lru_cache(maxsize=64)
def parse(text: str) -> Script:
    """The structure of a script; what cannot be parsed, or is too much of it, is flagged and not raised."""
    source = text.encode("utf-8", "surrogateescape")
    root = _parser().parse(source).root_node
    commands: list[SimpleCommand] = []
    redirects: list[Redirect] = []
    assignments: list[str] = []
    functions: list[str] = []
    bindings: list[Binding] = []
    recursive: list[str] = []
    background = substitutions = False
    unclaimed = 0
    understood = not root.has_error and "\x00" not in text
    for number, node in enumerate(_walk(root)):
        if number > _MOST_NODES or len(commands) > _MOST_COMMANDS:
            understood = False
            break
        understood = understood and not _disputed(node, source)
        match node.type:
            case "command":
                words = (*_words(node), *map(word, _claimed(node)))
                commands.append(SimpleCommand(words, _fed(node), _document(node)))
                unclaimed -= len(list(_claimed(node)))
            case "file_redirect":
                redirects.append(_redirect(node))
                unclaimed += len(_misfiled(node))
            case "heredoc_redirect" | "herestring_redirect":
                redirects.append(Redirect("<<"))
                unclaimed += len(_misfiled(node))
            case "variable_assignment" | "unset_command":
                assignments.append(text_of(node.child_by_field_name("name")) or "unset")
                bindings += _bound(node)
            case "declaration_command" | "for_statement" | "c_style_for_statement":
                assignments.append(text_of(node.child_by_field_name("variable")) or node.type)
                bindings += _looped(node)
            case "function_definition":
                functions.append(text_of(node.child_by_field_name("name")))
                recursive += functions[-1:] if _calls(node, functions[-1]) else []
            case "command_substitution" | "process_substitution":
                substitutions = True
            case "&":
                background = True
            case _:
                pass
    return Script(
        tuple(command for command in commands if command.words),
        tuple(redirects),
        tuple(assignments),
        tuple(bindings),
        tuple(recursive),
        tuple(functions),
        substitutions,
        background,
        understood=understood and unclaimed == 0,
    )


def _parser() -> tree_sitter.Parser:
    """One for each thread: a parser is not to be shared."""
    found: tree_sitter.Parser | None = getattr(_own, "parser", None)
    if found is None:
        found = _own.parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))
    return found


def _walk(root: Node) -> Iterator[Node]:
    pending = [root]
    while pending:
        node = pending.pop()
        yield node
        pending.extend(reversed(node.children))


def _words(command: Node) -> Iterator[Word]:
    for index, child in enumerate(command.children):
        field = command.field_name_for_child(index)
        if field == "name":
            yield word(child.children[0] if child.child_count else child)
        elif field == "argument":
            yield word(child)


def _claimed(command: Node) -> Iterator[Node]:
    """Arguments of a command that the grammar files under a redirection before them."""
    for redirect in command.children_by_field_name("redirect"):
        yield from _misfiled(redirect)
    around = command.parent
    while around is not None and around.end_byte == command.end_byte:
        command, around = around, around.parent
    if around is not None and around.type == "redirected_statement":
        for redirect in around.children_by_field_name("redirect"):
            yield from _misfiled(redirect)
            for inner in redirect.children_by_field_name("redirect"):
                yield from _misfiled(inner)


def _misfiled(redirect: Node) -> list[Node]:
    """In `rm >log -rf x` only the first word is the destination."""
    return redirect.children_by_field_name("destination")[1:] + redirect.children_by_field_name("argument")


def _fed(command: Node) -> bool:
    """Whether the command, or something around it, comes after another in a pipeline or reads a file."""
    if any(map(_reads, command.children_by_field_name("redirect"))):
        return True
    inner, around = command, command.parent
    while around is not None:
        given = around.children_by_field_name("redirect") if around.type == "redirected_statement" else []
        if any(_reads(redirect) or inner.type not in ("command", "pipeline") for redirect in given):
            return True
        if around.type == "pipeline" and (around.child(0) != inner or _holds_pipeline(around.parent)):
            return True
        inner, around = around, around.parent
    return False


def _reads(redirect: Node) -> bool:
    return redirect.type == "file_redirect" and any(child.type in ("<", "<>") for child in redirect.children)


def _holds_pipeline(node: Node | None) -> bool:
    """`cat <<EOF | sh` is filed as a pipeline of one command inside the redirection."""
    return node is not None and node.type == "heredoc_redirect"


def _document(command: Node) -> str | None:
    around = command.parent
    given = command.children_by_field_name("redirect")
    if around is not None and around.type == "redirected_statement":
        given = given + around.children_by_field_name("redirect")
    for redirect in given:
        for child in redirect.children:
            if redirect.type == "heredoc_redirect" and child.type == "heredoc_body":
                return text_of(child)
            if redirect.type == "herestring_redirect" and child.is_named:
                known = word(child)
                return known.text if known.literal else text_of(child)
    return None


def _bound(node: Node) -> list[Binding]:
    name, value = text_of(node.child_by_field_name("name")), node.child_by_field_name("value")
    plain = value is not None and value.type != "array" and b"+=" not in (node.text or b"")[: len(name) + 2]
    return [Binding(name, word(value) if plain and value is not None else None)] if name else []


def _looped(node: Node) -> list[Binding]:
    name = text_of(node.child_by_field_name("variable"))
    values = node.children_by_field_name("value")
    return [Binding(name, word(value)) for value in values] or [Binding(name)] if name else []


def _calls(function: Node, name: str) -> bool:
    body = function.child_by_field_name("body")
    return body is not None and any(node.type == "command_name" and text_of(node) == name for node in _walk(body))


def _redirect(node: Node) -> Redirect:
    operator = next((child.type for child in node.children if not child.is_named), "")
    destination = node.child_by_field_name("destination")
    return Redirect(operator, word(destination) if destination is not None else None)


def _disputed(node: Node, source: bytes) -> bool:
    """Whether the grammar holds together what the shell reads as two lines, or apart what it reads as one word.

    It swallows the end of a line before a backslash, ends a word at a line continuation inside it, and takes a
    reserved word for a program where it does not expect one.
    """
    if node.type == "command_name":
        return text_of(node) in _RESERVED.split()
    if node.type == "word":
        return b"\n" in source[node.start_byte : node.end_byte].replace(b"\\\n", b"")
    if node.type not in _ONE_LINE:
        return False
    for left, right in pairwise(node.children):
        gap = source[left.end_byte : right.start_byte]
        joined = gap.replace(b"\\\n", b"")
        if b"\n" in joined or (gap and not joined):
            return True
    return False
