"""What a shell script says it will do, read from its syntax tree and never from its characters.

The structure keeps apart what is certain (literal words) and what the shell will only know when it runs (dynamic
words, globs); whoever judges the script treats the second kind, and whatever could not be parsed, as unknown.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from itertools import pairwise

import tree_sitter
import tree_sitter_bash
from tree_sitter import Node

_GLOB = frozenset("*?[")
_DYNAMIC_NODES = frozenset(
    {
        "simple_expansion",
        "expansion",
        "command_substitution",
        "process_substitution",
        "arithmetic_expansion",
        "translated_string",
        "extglob_pattern",
        "regex",
    }
)
_RESERVED = "! { } [[ ]] if then elif else fi for while until do done case esac in function select"
_ONE_LINE = frozenset(("command", "redirected_statement", "file_redirect", "declaration_command"))


class Kind(StrEnum):
    """How much is known of a word before the script runs."""

    LITERAL = "literal"
    GLOB = "glob"
    DYNAMIC = "dynamic"


@dataclass(frozen=True, slots=True)
class Word:
    """One word, unquoted. For a glob, `fixed` is the literal text before its first wildcard. `tilde` says that a
    leading `~` stands for the home directory, `splits` that the shell may make several words of it."""

    text: str
    kind: Kind = Kind.LITERAL
    fixed: str = ""
    tilde: bool = False
    splits: bool = False

    @property
    def literal(self) -> bool:
        return self.kind is Kind.LITERAL


@dataclass(frozen=True, slots=True)
class Redirect:
    """Input or output sent elsewhere; `target` is None for heredocs and here-strings."""

    operator: str
    target: Word | None = None


@dataclass(frozen=True, slots=True)
class SimpleCommand:
    """A program name and its arguments, as the shell would start it."""

    words: tuple[Word, ...]

    @property
    def name(self) -> str | None:
        """The program, without its directory if that is a usual one; None when it is only known at run time."""
        first = self.words[0]
        if not first.literal:
            return None
        directory, _, base = first.text.rpartition("/")
        return base if directory in ("/bin", "/usr/bin", "/sbin", "/usr/sbin", "/usr/local/bin") else first.text

    @property
    def arguments(self) -> tuple[Word, ...]:
        return self.words[1:]


@dataclass(frozen=True, slots=True)
class Script:
    """Everything in a script, however deeply nested. `understood` is False after any error in the parse."""

    commands: tuple[SimpleCommand, ...]
    redirects: tuple[Redirect, ...]
    assignments: tuple[str, ...]
    functions: tuple[str, ...]
    substitutions: bool
    background: bool
    understood: bool


def parse(text: str) -> Script:
    """The structure of a script; what cannot be parsed is flagged, not raised."""
    source = text.encode("utf-8", "surrogateescape")
    root = _parser().parse(source).root_node
    commands: list[SimpleCommand] = []
    redirects: list[Redirect] = []
    assignments: list[str] = []
    functions: list[str] = []
    background = substitutions = False
    unclaimed = 0
    understood = not root.has_error and "\x00" not in text
    for node in _walk(root):
        understood = understood and not _disputed(node, source)
        match node.type:
            case "command":
                commands.append(SimpleCommand((*_words(node), *map(word, _claimed(node)))))
                unclaimed -= len(list(_claimed(node)))
            case "file_redirect":
                redirects.append(_redirect(node))
                unclaimed += len(_misfiled(node))
            case "heredoc_redirect" | "herestring_redirect":
                redirects.append(Redirect("<<"))
                unclaimed += len(_misfiled(node))
            case "variable_assignment" | "unset_command":
                assignments.append(_text(node.child_by_field_name("name")) or "unset")
            case "declaration_command" | "for_statement" | "c_style_for_statement":
                assignments.append(_text(node.child_by_field_name("variable")) or node.type)
            case "function_definition":
                functions.append(_text(node.child_by_field_name("name")))
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
        tuple(functions),
        substitutions,
        background,
        understood=understood and unclaimed == 0,
    )


@cache
def _parser() -> tree_sitter.Parser:
    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


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


def _redirect(node: Node) -> Redirect:
    operator = next((child.type for child in node.children if not child.is_named), "")
    destination = node.child_by_field_name("destination")
    return Redirect(operator, word(destination) if destination is not None else None)


def word(node: Node) -> Word:
    """What is known of one word."""
    parts = node.children if node.type == "concatenation" else [node]
    out = ""
    fixed: str | None = None
    for part in parts:
        text = _piece(part)
        if text is None:
            return _unknown(node)
        if fixed is None and part.type in ("word", "brace_expression"):
            at = _wildcard(_text(part)) if part.type == "word" else 0
            if at is not None:
                fixed = out + _unescape(_text(part)[:at])
        out += text
    braces = _braces(node)
    if braces is not None and (fixed is None or len(braces) < len(fixed)):
        fixed = braces
    tilde = _text(node).startswith("~")
    if tilde and not (out == "~" or out.startswith("~/")):
        return _unknown(node)
    if fixed is None:
        return Word(out, tilde=tilde)
    unsure = braces is not None and "/" in out[len(braces) :]
    if unsure or ".." in out[len(fixed) :]:
        return _unknown(node)
    return Word(out, Kind.GLOB, fixed, tilde, splits=True)


def _unknown(node: Node) -> Word:
    whole = node.type == "string" and not any(
        child.type == "simple_expansion" and _text(child) == "$@" for child in node.children
    )
    return Word(_text(node), Kind.DYNAMIC, splits=not whole)


def _piece(node: Node) -> str | None:
    """The text of a part of a word after quoting, or None if the shell computes it."""
    text = _text(node)
    match node.type:
        case "word" | "number" | "brace_expression" | "test_operator" | "variable_name":
            return _unescape(text)
        case "raw_string":
            return text[1:-1]
        case "string":
            known = all(child.type in ("string_content", '"') for child in node.children)
            return _unescape_quoted(text[1:-1]) if known else None
        case "ansi_c_string":
            return text[2:-1] if "\\" not in text else None
        case kind if kind in _DYNAMIC_NODES or node.is_named:
            return None
        case _:
            return _unescape(text)


def _braces(node: Node) -> str | None:
    """The text before a brace expansion (`{a,b}`, `{1..3}`), if there is one."""
    text = _text(node)
    start = text.find("{")
    if node.type not in ("concatenation", "word") or start < 0 or "}" not in text[start:]:
        return None
    inner = text[start : text.rindex("}")]
    return _unescape(text[:start]) if "," in inner or ".." in inner else None


def _wildcard(text: str) -> int | None:
    escaped = False
    for index, character in enumerate(text):
        if character in _GLOB and not escaped:
            return index
        escaped = character == "\\" and not escaped
    return None


def _unescape(text: str) -> str:
    out: list[str] = []
    characters = iter(text)
    for character in characters:
        if character == "\\":
            character = next(characters, "")
            if character == "\n":
                continue
        out.append(character)
    return "".join(out)


def _unescape_quoted(text: str) -> str:
    out: list[str] = []
    characters = iter(text)
    for character in characters:
        if character == "\\":
            following = next(characters, "")
            out.append({"\n": ""}.get(following, following if following in '$`"\\' else "\\" + following))
        else:
            out.append(character)
    return "".join(out)


def _disputed(node: Node, source: bytes) -> bool:
    """Whether the grammar holds together what the shell reads as two lines, or apart what it reads as one word.

    It swallows the end of a line before a backslash, ends a word at a line continuation inside it, and takes a
    reserved word for a program where it does not expect one.
    """
    if node.type == "command_name":
        return _text(node) in _RESERVED.split()
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


def _text(node: Node | None) -> str:
    return node.text.decode("utf-8", "surrogateescape") if node is not None and node.text is not None else ""
