"""The words of a shell script: what is known of each before the script runs.

A word is literal, a glob, or dynamic. What only the shell will know is never guessed; a dynamic word says whether
plain variables alone keep it from being known, so that whoever knows those can go on.
"""

from dataclasses import dataclass
from enum import StrEnum

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
_ANSI_C = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "v": "\v"}
_DIGITS = {"x": (16, 2), "u": (16, 4), "U": (16, 8)}


def listed(text: str) -> frozenset[str]:
    """A set of names, written as one text."""
    return frozenset(text.split())


class Kind(StrEnum):
    """How much is known of a word before the script runs."""

    LITERAL = "literal"
    GLOB = "glob"
    DYNAMIC = "dynamic"


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a word that is known but for its variables: `text` names one, or is as it stands in the script."""

    text: str
    variable: bool = False
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Word:
    """One word, unquoted. For a glob, `fixed` is the literal text before its first wildcard. `tilde` says that a
    leading `~` stands for the home directory, `splits` that the shell may make several words of it. A dynamic word
    has `pieces` if only plain variables keep it from being known; `unknown` says that its text comes from
    something that runs."""

    text: str
    kind: Kind = Kind.LITERAL
    fixed: str = ""
    tilde: bool = False
    splits: bool = False
    pieces: tuple[Piece, ...] = ()
    unknown: bool = False

    @property
    def literal(self) -> bool:
        return self.kind is Kind.LITERAL


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
            at = wildcard(text_of(part)) if part.type == "word" else 0
            if at is not None:
                fixed = out + _unescape(text_of(part)[:at])
        out += text
    braces = _braces(node)
    if braces is not None and (fixed is None or len(braces) < len(fixed)):
        fixed = braces
    tilde = text_of(node).startswith("~")
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
        child.type == "simple_expansion" and text_of(child) == "$@" for child in node.children
    )
    pieces = _pieces(node) if _braces(node) is None else None
    if pieces is None:
        return Word(text_of(node), Kind.DYNAMIC, splits=not whole, unknown=True)
    splits = any(piece.variable and not piece.quoted for piece in pieces)
    return Word(text_of(node), Kind.DYNAMIC, splits=splits, pieces=tuple(pieces))


def _pieces(node: Node, quoted: bool = False) -> list[Piece] | None:
    """The parts of a word in which nothing but plain variables is unknown; None for any other word."""
    text = text_of(node)
    match node.type:
        case "concatenation":
            parts = [_pieces(child) for child in node.children]
            known = [part for part in parts if part is not None]
            return [piece for part in known for piece in part] if len(known) == len(parts) else None
        case "simple_expansion" | "expansion":
            name = text.strip("${}")
            return [Piece(name, variable=True, quoted=quoted)] if name.isidentifier() else None
        case "string":
            return _quoted_pieces(node)
        case "word" | "number":
            return None if "{" in text or text.startswith("~") else [Piece(text)]
        case _:
            plain = _piece(node)
            return None if plain is None or node.type == "brace_expression" else [Piece(plain, quoted=True)]


def _quoted_pieces(node: Node) -> list[Piece] | None:
    out: list[Piece] = []
    source, start = node.text or b"", node.start_byte
    at = 1
    for child in node.children:
        if child.type in ("string_content", '"'):
            continue
        inside = _pieces(child, quoted=True)
        if inside is None or not inside[0].variable:
            return None
        out.append(Piece(_unescape_quoted(decode(source[at : child.start_byte - start])), quoted=True))
        out += inside
        at = child.end_byte - start
    return [*out, Piece(_unescape_quoted(decode(source[at:-1])), quoted=True)]


def _piece(node: Node) -> str | None:
    """The text of a part of a word after quoting, or None if the shell computes it."""
    text = text_of(node)
    match node.type:
        case "word" | "number" | "brace_expression" | "test_operator" | "variable_name":
            return _unescape(text)
        case "raw_string":
            return text[1:-1]
        case "string":
            known = all(child.type in ("string_content", '"') for child in node.children)
            return _unescape_quoted(text[1:-1]) if known else None
        case "ansi_c_string":
            return _ansi_c(text[2:-1])
        case kind if kind in _DYNAMIC_NODES or node.is_named:
            return None
        case _:
            return _unescape(text)


def _braces(node: Node) -> str | None:
    """The text before a brace expansion (`{a,b}`, `{1..3}`), if there is one."""
    text = text_of(node)
    start = text.find("{")
    if node.type not in ("concatenation", "word") or start < 0 or "}" not in text[start:]:
        return None
    inner = text[start : text.rindex("}")]
    return _unescape(text[:start]) if "," in inner or ".." in inner else None


def wildcard(text: str) -> int | None:
    """Where the first wildcard of an unquoted text is."""
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


def _ansi_c(text: str) -> str | None:
    """What is meant by `$'…'`; None where a code names no character of its own."""
    out = ""
    at = 0
    while at < len(text):
        character, at = text[at], at + 1
        if character != "\\":
            out += character
            continue
        code, at = text[at : at + 1], at + 1
        if code in _DIGITS or code in tuple("01234567"):
            base, most = _DIGITS.get(code, (8, 3))
            at -= base == 8
            end = at
            while end < min(at + most, len(text)) and text[end].lower() in "0123456789abcdef"[:base]:
                end += 1
            number = int(text[at:end] or "0", base)
            if number == 0 or (number > 127 and base == 8) or (number > 127 and most == 2) or number > 0x10FFFF:
                return None
            out, at = out + chr(number), end
        elif code in _ANSI_C:
            out += _ANSI_C[code]
        elif code in ("\\", "'", '"', "?"):
            out += code
        else:
            return None
    return out


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


def text_of(node: Node | None) -> str:
    return decode(node.text) if node is not None and node.text is not None else ""


def decode(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")
