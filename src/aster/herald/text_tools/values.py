"""Values of arguments: JSON as models write it, and text turned into what a parameter's schema asks for.

A string parameter is never altered. Another type is read from its text if it can be, and kept as text otherwise:
the tool's own validation says what is wrong with it then.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias, cast

import msgspec

from aster.herald.text_tools.literals import NotLiteral, read_value

Reading: TypeAlias = Callable[[str], Any]

_STRINGS = {"string", "str", "text", "varchar", "char", "enum"}
_BOOLEANS = {"boolean", "bool", "binary"}
_WORDS = {"true": True, "false": False, "1": True, "0": False, "yes": True, "no": False, "on": True, "off": False}
_INTEGERS = ("int", "uint", "long", "short", "unsigned")
_NUMBERS = ("num", "float", "double")
_REFERENCES = 8
_LONGEST_NUMBER = 400


class NotJson(ValueError):
    """The text cannot be read as a value; `pos` is where it goes wrong, as far as that is known."""

    def __init__(self, pos: int = 0) -> None:
        super().__init__("no value")
        self.pos = pos


def decode(text: str) -> Any:
    """JSON; with raw control characters in strings; or the same value as Python writes it."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        pass
    try:
        value = json.loads(text, strict=False, parse_constant=_no_constant, parse_float=_finite)
        msgspec.json.encode(value)
    except json.JSONDecodeError as error:
        at = error.pos
    except (ValueError, RecursionError, UnicodeEncodeError, msgspec.MsgspecError):
        raise NotJson from None
    else:
        return value
    try:
        return read_value(text)
    except (NotLiteral, RecursionError):
        raise NotJson(at) from None


def _no_constant(name: str) -> Any:
    raise ValueError(name)


def _finite(digits: str) -> float:
    number = float(digits)
    if number in (float("inf"), float("-inf")):
        raise ValueError(digits)
    return number


def properties_of(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    found = schema.get("properties")
    return cast("Mapping[str, Any]", found) if isinstance(found, dict) else {}


def types_of(schema: Any, root: Mapping[str, Any], depth: int = _REFERENCES) -> set[str]:
    """Every type a schema allows, by name; empty when it does not say."""
    if not isinstance(schema, dict) or depth == 0:
        return set()
    known = cast("dict[str, Any]", schema)
    declared = known.get("type")
    if isinstance(declared, str):
        return {declared.strip().lower()}
    if isinstance(declared, list):
        return {str(one).strip().lower() for one in cast("list[Any]", declared)}
    found: set[str] = set()
    for one in _alternatives(known, root):
        found |= types_of(one, root, depth - 1)
    if not found:
        for value in _listed(known):
            found.add(next((name for kind, name in _TYPE_NAMES if isinstance(value, kind)), "null"))
    return found


_TYPE_NAMES: tuple[tuple[type, str], ...] = (
    (str, "string"),
    (bool, "boolean"),
    (int, "integer"),
    (float, "number"),
    (list, "array"),
    (dict, "object"),
)


def _listed(schema: dict[str, Any]) -> list[Any]:
    values = [schema["const"]] if "const" in schema else schema.get("enum")
    return cast("list[Any]", values) if isinstance(values, list) else []


def _alternatives(schema: dict[str, Any], root: Mapping[str, Any]) -> Iterator[Any]:
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference.startswith("#/"):
        target: Any = root
        for part in reference[2:].split("/"):
            target = cast("dict[str, Any]", target).get(part) if isinstance(target, dict) else None
        yield target
    for word in ("anyOf", "oneOf", "allOf"):
        branches = schema.get(word)
        if isinstance(branches, list):
            yield from cast("list[Any]", branches)


def coerce(text: str, types: set[str], untyped: Reading = str, otherwise: Reading = str) -> Any:
    """The value the text stands for under these types.

    `untyped` reads it when no type is known, `otherwise` when it is none of the types and a text is not asked for.
    """
    if not types:
        return untyped(text)
    if types <= _STRINGS:
        return text
    plain = text.strip()
    textual = bool(types & _STRINGS)
    if plain in ("null", "Null", "NULL") and ("null" in types or not textual):
        return None
    if plain == "None" and not textual:
        return None
    others = types - _STRINGS - {"null"}
    if not others:
        return text
    for read in (_boolean, _integer, _number, _structure):
        value = read(plain, others)
        if value is not _NOTHING:
            return value
    return text if textual else otherwise(text)


def loose(text: str) -> Any:
    """For dialects that write every value as JSON where it is one and as plain text where it is not."""
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return text
    return value


_NOTHING = object()


def _boolean(text: str, types: set[str]) -> Any:
    return _WORDS.get(text.lower(), _NOTHING) if types & _BOOLEANS else _NOTHING


def _integer(text: str, types: set[str]) -> Any:
    if not any(name.startswith(_INTEGERS) for name in types) or len(text) > _LONGEST_NUMBER:
        return _NOTHING
    try:
        return int(_unquoted(text))
    except ValueError:
        return _NOTHING


def _number(text: str, types: set[str]) -> Any:
    if not any(name.startswith(_NUMBERS) for name in types) or len(text) > _LONGEST_NUMBER:
        return _NOTHING
    text = _unquoted(text)
    try:
        value = float(text)
    except ValueError:
        return _NOTHING
    if value != value or value in (float("inf"), float("-inf")):
        return _NOTHING
    return int(text) if text.lstrip("+-").isdecimal() else value


def _unquoted(text: str) -> str:
    """A number that was written as a string."""
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] == '"' else text


def _structure(text: str, types: set[str]) -> Any:
    simple = (*_INTEGERS, *_NUMBERS)
    if all(name in _BOOLEANS or name.startswith(simple) for name in types):
        return _NOTHING
    try:
        value = decode(text)
        return _inner(value) if isinstance(value, str) else value
    except NotJson:
        pass
    try:
        return decode(decode(f'"{text}"'))
    except (NotJson, TypeError):
        return _NOTHING


def _inner(text: str) -> Any:
    """A structure that was written as a string once more."""
    try:
        return decode(text)
    except NotJson:
        return text
