"""Calls as JSON objects: every way models name the tool and its arguments, brought to one.

`{"name", "arguments"}` and its synonyms, the object of the Chat Completions wire, a list of calls, an object whose
one key is the tool. Arguments may be a JSON string, or wrapped once more in a key of their own.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, cast

from aster.contracts.model import writable
from aster.herald.text_tools.items import Broken, Call, Item
from aster.herald.text_tools.toolbox import Toolbox
from aster.herald.text_tools.values import NotJson, decode

NAMES = ("name", "tool_name", "function_name", "tool", "function")
ARGUMENTS = ("arguments", "parameters", "args", "input", "kwargs")
OTHERS = ("type", "id", "tool_call_id", "index")
LISTS = ("tool_calls", "tool_call", "function_call")
KEYS = frozenset({*NAMES, *ARGUMENTS, *OTHERS, *LISTS})


class NoCall(ValueError):
    """The value is not a call in any of these shapes."""


def calls_in(value: Any, tools: Toolbox, raw: str, *, bare: bool = False) -> list[Item]:
    """The calls a value asks for. `bare` values stand without framing: they must look like nothing but calls."""
    if isinstance(value, list):
        found = [item for one in cast("list[Any]", value) for item in calls_in(one, tools, raw, bare=bare)]
        if not found:
            raise NoCall
        return found
    if not isinstance(value, dict):
        raise NoCall
    known = cast("dict[str, Any]", value)
    if len(known) == 2 and isinstance(known.get("name"), str) and isinstance(known.get("arguments"), dict):
        return [named(known["name"], known["arguments"], tools, raw)]
    for key in LISTS:
        inner = known.get(key)
        if isinstance(inner, dict | list) and len(known) == 1:
            return calls_in(inner, tools, raw, bare=bare)
    return [_call(known, tools, raw, bare)]


def whole_calls(value: str, tools: Toolbox, raw: str) -> list[Item]:
    """The calls that stand whole at the beginning of a list which was cut off."""
    found: list[Item] = []
    pos = 1 if value.startswith("[") else len(value)
    while (opened := _NEXT.match(value, pos)) is not None:
        try:
            one, pos = _DECODER.raw_decode(value, opened.end())
            found += [item for item in calls_in(writable(one), tools, raw) if isinstance(item, Call)]
        except (ValueError, RecursionError):
            break
    return found


_NEXT = re.compile(r"[\s,]*(?=\{)")
_DECODER = json.JSONDecoder(strict=False)


def named(name: str, arguments: Any, tools: Toolbox, raw: str) -> Item:
    """A call of this name, if it is offered and its arguments are an object."""
    offered = tools.resolve(name)
    try:
        given = _object(arguments)
    except NoCall:
        return Broken("malformed", raw, offered or name)
    if offered is None:
        return Broken("unknown_tool", raw, name, Call(name, given))
    return Call(offered, _unwrapped(given, tools.properties(offered)))


def _call(known: dict[str, Any], tools: Toolbox, raw: str, bare: bool) -> Item:
    nested = known.get("function")
    if isinstance(nested, dict):
        return _call(cast("dict[str, Any]", nested), tools, raw, bare)
    name_key = next((key for key in NAMES if isinstance(known.get(key), str)), None)
    if name_key is None:
        return _keyed(known, tools, raw)
    arguments_key = next((key for key in ARGUMENTS if key in known), None)
    rest = known.keys() - {name_key, arguments_key, *OTHERS}
    if bare and (arguments_key is None or rest - {*NAMES, *ARGUMENTS, "description"}):
        raise NoCall
    if arguments_key is None:
        return named(known[name_key], {key: known[key] for key in known if key in rest}, tools, raw)
    return named(known[name_key], known[arguments_key], tools, raw)


def _keyed(known: dict[str, Any], tools: Toolbox, raw: str) -> Item:
    """`{"tool": {…arguments…}}`, for a tool that is offered."""
    if len(known) == 1:
        (key, arguments), *_ = known.items()
        offered = None if tools.unnamed else tools.resolve(key)
        if offered is not None and isinstance(arguments, dict):
            return named(offered, arguments, tools, raw)
    raise NoCall


def _object(arguments: Any) -> dict[str, Any]:
    if isinstance(arguments, str):
        try:
            arguments = decode(arguments) if arguments.strip() else {}
        except NotJson:
            raise NoCall from None
    if arguments is None:
        return {}
    if not isinstance(arguments, dict):
        raise NoCall
    return cast("dict[str, Any]", arguments)


def _unwrapped(given: dict[str, Any], properties: Mapping[str, Any]) -> dict[str, Any]:
    if len(given) == 1:
        (key, inner), *_ = given.items()
        if key in ARGUMENTS and isinstance(inner, dict) and properties and key not in properties:
            return cast("dict[str, Any]", inner)
    return given
