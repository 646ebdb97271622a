"""The operator's own facts about models: a JSON file, one entry per family, merged over the built-in table.

`{"gpt-4o": {"price": {"input": 2.5, "output": 10}}, "my-model": {"context_window": 65536, "max_output": 8192}}`:
what an entry does not say stays as it is. A price that changes on a day is a list, each with the day it holds
`since`. An entry that cannot be right stops the start and is named; a price changed here counts from then on, what
was written with the old one stays.
"""

from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar, cast, get_type_hints

import msgspec

from aster.contracts.errors import EngineError, ErrorCode
from aster.herald.profiles import PROFILES, UNKNOWN, Price, Profile, use
from aster.infra.settings import variable

_SETTING = variable("model_facts_path")
_NOT_SAID = frozenset({"known", "prices"})
_PRICE = "price"

F = TypeVar("F", bound=tuple[Any, ...])


def adopt(path: Path | None) -> None:
    """Look models up in the built-in table with the operator's file over it, or in it alone without a file."""
    use(PROFILES if path is None else merged(_read(path)))


def merged(entries: dict[str, Any]) -> dict[str, Profile]:
    """The built-in families with these entries over them."""
    return PROFILES | {name: _family(name, said) for name, said in entries.items()}


def _family(name: str, said: Any) -> Profile:
    if not name:
        raise _wrong("an entry has no name")
    base = PROFILES.get(name) or _relative(name)
    fields = _checked(Profile, said, name)
    if _PRICE in fields:
        fields["prices"] = _prices(name, fields.pop(_PRICE))
    known = base.known or "max_output" in fields
    return base._replace(**fields, known=known)


def _relative(name: str) -> Profile:
    """What is known of the family a new name extends; a price is not inherited."""
    plain = name.rpartition("/")[2]
    family = max((known for known in PROFILES if plain.startswith(known)), key=len, default=None)
    return UNKNOWN if family is None else PROFILES[family]._replace(prices=())


def _prices(name: str, said: Any) -> tuple[Price, ...]:
    """One price, several in the order of their days, or none: `null` takes away what is built in."""
    if said is None:
        return ()
    lines = cast("list[Any]", said) if isinstance(said, list) else [said]
    prices = tuple(_price(name, line) for line in lines)
    for earlier, later in pairwise(prices):
        if later.since <= earlier.since:
            raise _wrong(f"entry {name!r}: price has to say `since` which day each line holds, earliest first")
    return prices


def _price(name: str, said: Any) -> Price:
    """A price says at least input and output; tokens of the cache cost as much as others unless it says so."""
    fields = _checked(Price, said, f"{name}.price")
    if "since" in fields and not _is_day(fields["since"]):
        raise _wrong(f"entry {name!r}: price since {fields['since']!r} is not a day such as 2026-12-01")
    missing = {"input", "output"} - fields.keys()
    if missing:
        raise _wrong(f"entry {name!r}: price has no {' and no '.join(sorted(missing))}")
    return Price(**({"cache_read": fields["input"], "cache_write": fields["input"]} | fields))


def _is_day(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _checked(kind: type[F], said: Any, where: str) -> dict[str, Any]:
    """The fields of an entry, each of the type its field has; a price is left as it is."""
    hints = {field: hint for field, hint in get_type_hints(kind).items() if field not in _NOT_SAID}
    if kind is Profile:
        hints[_PRICE] = Price
    if not isinstance(said, dict):
        raise _wrong(f"entry {where!r} is not an object")
    fields: dict[str, Any] = {}
    for field, value in cast("dict[str, Any]", said).items():
        if field not in hints:
            raise _wrong(f"entry {where!r} has no field {field!r}; there are {', '.join(sorted(hints))}")
        if field == _PRICE:
            fields[field] = value
            continue
        try:
            fields[field] = msgspec.convert(value, hints[field])
        except msgspec.ValidationError as error:
            raise _wrong(f"entry {where!r}: {field} is wrong: {error}") from None
        if isinstance(value, int | float) and value < 0:
            raise _wrong(f"entry {where!r}: {field} is negative")
    return fields


def _read(path: Path) -> dict[str, Any]:
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
    except OSError as error:
        raise _wrong(f"{path} cannot be read: {error.strerror}") from None
    except msgspec.DecodeError as error:
        raise _wrong(f"{path} is not a JSON object of families: {error}") from None


def _wrong(problem: str) -> EngineError:
    return EngineError(
        ErrorCode.CONFIGURATION_INVALID, f"Set {_SETTING} right and start again: {problem}.", {_SETTING: problem}
    )
