"""Places for values in the texts of a workflow: `{{args.topic}}`, `{{found.files.0}}`.

A text that is one place and nothing else stands for the value itself; in any other text values stand as text, those
that are no text as JSON. What agents have said comes from models that may have read anything: it is put between marks.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple, cast

from aster.contracts.model import encode

PLACE: Final = re.compile(r"\{\{\s*([A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z0-9_-]+)*)\s*\}\}")
NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,31}")


class Bound(NamedTuple):
    """A value that steps can name; `outside`: an agent has said it."""

    value: Any
    outside: bool = False


class Missing(Exception):
    """A place whose value is not there; the message says which."""


def roots(value: Any) -> Iterator[str]:
    """The names that the places of a text, or of all texts in a structure, begin with."""
    match value:
        case str():
            yield from (found[1].split(".")[0] for found in PLACE.finditer(value))
        case dict():
            for item in cast("dict[str, Any]", value).values():
                yield from roots(item)
        case list() | tuple():
            for item in cast("list[Any]", value):
                yield from roots(item)
        case _:
            pass


def resolved(value: Any, scope: Mapping[str, Bound]) -> Bound:
    """A value with all places in it filled in, as data."""
    match value:
        case str():
            whole = PLACE.fullmatch(value.strip())
            if whole is not None:
                return _named(whole[1], scope)
            outside = any(_named(found[1], scope).outside for found in PLACE.finditer(value))
            return Bound(PLACE.sub(lambda found: _text(_named(found[1], scope).value), value), outside)
        case dict():
            items = {key: resolved(item, scope) for key, item in cast("dict[str, Any]", value).items()}
            return Bound({key: one.value for key, one in items.items()}, any(one.outside for one in items.values()))
        case list() | tuple():
            parts = [resolved(item, scope) for item in cast("list[Any]", value)]
            return Bound([one.value for one in parts], any(one.outside for one in parts))
        case _:
            return Bound(value)


def rendered(text: str, scope: Mapping[str, Bound], quote: Callable[[str], str]) -> str:
    """A text for a model, with what agents have said between marks."""

    def shown(found: re.Match[str]) -> str:
        bound = _named(found[1], scope)
        said = _text(bound.value)
        return quote(said) if bound.outside else said

    return PLACE.sub(shown, text)


def _named(path: str, scope: Mapping[str, Bound]) -> Bound:
    root, *rest = path.split(".")
    if root not in scope:
        raise Missing(f"there is no {root!r}")
    bound = scope[root]
    value = bound.value
    for part in rest:
        match value:
            case dict() if part in value:
                value = cast("dict[str, Any]", value)[part]
            case list() if part.isdigit() and int(part) < len(cast("list[Any]", value)):
                value = cast("list[Any]", value)[int(part)]
            case _:
                raise Missing(f"{path!r} leads nowhere: there is no {part!r}")
    return Bound(value, bound.outside)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else encode(value).decode()
