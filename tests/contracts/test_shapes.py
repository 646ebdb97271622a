"""The released shape of every event, kept in golden files, and the round trip of every contract.

A golden file is never edited: what was written once must be read for ever. A new field gets a file of its own
(`<type>.2.json` …) beside the old one, a new word a line in `words.json`; the failures below say what to write.
"""

import json
import math
from collections.abc import Iterator
from enum import Enum
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any, Literal, get_args, get_origin

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import inspect

import aster.contracts
from aster.contracts.events import EVENT_TYPES, Event, decode_event
from aster.contracts.model import Contract, decode, encode

GOLDEN = Path(__file__).parent / "golden"
WORDS = GOLDEN / "words.json"
MOST_MEMBERS = 8
"""Of the largest union, `ContentBlock`."""


def modules() -> Iterator[Any]:
    for found in walk_packages(aster.contracts.__path__, "aster.contracts."):
        yield import_module(found.name)


def contracts() -> list[type[msgspec.Struct]]:
    """Every struct of the public language, events included."""
    found = {
        value
        for module in modules()
        for name, value in vars(module).items()
        if isinstance(value, type)
        and issubclass(value, msgspec.Struct)
        and value.__module__ == module.__name__
        and not name.startswith("_")
        and value not in (Contract, Event)
    }
    return sorted(found, key=lambda kind: (kind.__module__, kind.__name__))


def words() -> dict[str, list[str]]:
    """Every closed set of words: enumerations and literals by name, literals of fields by where they stand."""
    found: dict[str, list[str]] = {}
    for module in modules():
        for name, value in vars(module).items():
            if getattr(value, "__module__", None) == module.__name__ and isinstance(value, type):
                if issubclass(value, Enum):
                    found[name] = [str(item.value) for item in value]
                elif issubclass(value, msgspec.Struct) and not name.startswith("_"):
                    for field in inspect.type_info(value).fields:  # pyright: ignore[reportAttributeAccessIssue]
                        options = field.type.types if isinstance(field.type, inspect.UnionType) else [field.type]
                        for option in options:
                            if isinstance(option, inspect.LiteralType):
                                found[f"{name}.{field.name}"] = [str(item) for item in option.values]
            elif get_origin(value) is Literal and not name.startswith("_"):
                found[name] = [str(item) for item in get_args(value)]
    return dict(sorted(found.items()))


def sample(kind: inspect.Type, name: str, pick: int = 0) -> Any:
    """A value of the type with no field at its default, the same every time; of a union, the `pick`-th member."""
    match kind:
        case inspect.StrType():
            return "2026-04-27T12:34:56.000Z" if name in ("timestamp", "created_at", "expires_at") else f"a {name}"
        case inspect.IntType():
            return 7
        case inspect.FloatType():
            return 0.25
        case inspect.BoolType():
            return True
        case inspect.AnyType():
            return ["anything", 1]
        case inspect.EnumType(cls=cls):
            return list(cls)[-1]
        case inspect.LiteralType(values=values):
            return values[-1]
        case inspect.DictType(key_type=key, value_type=value):
            return {sample(key, "key"): sample(value, name, pick)}
        case inspect.UnionType(types=types):
            options = [option for option in types if not isinstance(option, inspect.NoneType)]
            return sample(options[pick % len(options)], name, pick)
        case inspect.ListType(item_type=item) | inspect.VarTupleType(item_type=item):
            options = item.types if isinstance(item, inspect.UnionType) else (item,)
            items = [sample(option, name, pick) for option in options]
            return items if isinstance(kind, inspect.ListType) else tuple(items)
        case inspect.StructType(cls=cls, fields=fields):
            return cls(**{field.name: filled(cls, field, pick) for field in fields})
        case _:
            raise AssertionError(f"{name}: no sample for {kind}")


def filled(cls: type, field: inspect.Field, pick: int) -> Any:
    value = sample(field.type, field.name, pick)
    if value == field.default and isinstance(value, bool):
        return not value
    if value == field.default and isinstance(field.type, inspect.LiteralType):
        return field.type.values[0]
    assert value != field.default, f"{cls.__name__}.{field.name} is at its default in the sample"
    return value


def example(kind: type[msgspec.Struct], pick: int = 0) -> Any:
    return sample(inspect.type_info(kind), kind.__name__, pick)


def examples(kind: type[msgspec.Struct]) -> list[bytes]:
    """Full values that together have every field, whichever member of a union a field holds."""
    found: list[bytes] = []
    seen: set[str] = set()
    for pick in range(MOST_MEMBERS):
        data = encode(example(kind, pick))
        if not paths(json.loads(data)) <= seen:
            seen |= paths(json.loads(data))
            found.append(data)
    return found


def paths(value: Any, prefix: str = "") -> set[str]:
    """Where the values of a JSON document are; a tagged item of a list is at a place of its own."""
    if isinstance(value, dict):
        tag = f"<{value['type']}>" if isinstance(value.get("type"), str) else ""
        return {f"{prefix}{tag}"}.union(*(paths(item, f"{prefix}{tag}.{key}") for key, item in value.items()))
    if isinstance(value, list):
        return {prefix}.union(*(paths(item, f"{prefix}[]") for item in value))
    return {prefix}


def golden_files(name: str) -> list[Path]:
    return sorted({*GOLDEN.glob(f"{name}.json"), *GOLDEN.glob(f"{name}.[0-9]*.json")})


def pretty(data: bytes) -> str:
    return json.dumps(json.loads(data), indent=2, ensure_ascii=False) + "\n"


@pytest.mark.parametrize("name", EVENT_TYPES)
def test_every_event_has_a_golden_file_with_every_field(name: str) -> None:
    held: set[str] = set().union(*(paths(json.loads(path.read_text())) for path in golden_files(name)))
    number = len(golden_files(name)) + 1
    fresh = f"{name}.json" if number == 1 else f"{name}.{number}.json"
    for wanted in examples(EVENT_TYPES[name]):
        missing = paths(json.loads(wanted)) - held
        assert not missing, f"Write golden/{fresh} (missing: {sorted(missing)}):\n{pretty(wanted)}"


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.json")), ids=lambda path: path.stem)
def test_what_was_released_is_read_and_written_unchanged(path: Path) -> None:
    if path == WORDS:
        return
    text = path.read_text()
    event = decode_event(text)
    assert type(event) is EVENT_TYPES[path.name.split(".")[0]]
    assert pretty(encode(event)) == text


def test_no_word_is_renamed_and_every_word_is_released() -> None:
    released, now = json.loads(WORDS.read_text()), words()
    for name, known in released.items():
        gone = set(known) - set(now.get(name, ()))
        assert not gone, f"{name} lost {sorted(gone)}: words are added, never renamed or removed."
    assert now == released, f"New words; write them into golden/words.json:\n{json.dumps(now, indent=2)}"


def test_an_older_shape_is_still_read() -> None:
    """Fields with a default may be missing: whoever wrote the event did not know them."""
    for name, kind in EVENT_TYPES.items():
        whole = json.loads(encode(example(kind)))
        info: Any = inspect.type_info(kind)
        required = {"type", *(field.name for field in info.fields if field.required)}
        old = {key: value for key, value in whole.items() if key in required}
        event = decode_event(json.dumps(old))
        assert type(event) is kind, name
        assert json.loads(encode(event)) == old, f"{name}: a default is written out"


@pytest.mark.parametrize("kind", contracts(), ids=lambda kind: kind.__name__)
def test_a_full_value_comes_back_the_same(kind: type[msgspec.Struct]) -> None:
    value = example(kind)
    assert decode(encode(value), kind) == value


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=4,
)


def anything(kind: inspect.Type) -> st.SearchStrategy[Any]:
    """Any value of the type."""
    match kind:
        case inspect.StrType(min_length=least):
            return st.text(min_size=least or 0, max_size=20)
        case inspect.IntType(ge=least, le=most):
            return st.integers(-(2**63) if least is None else least, 2**63 - 1 if most is None else most)
        case inspect.FloatType(ge=least, le=most):
            return st.floats(least, most, allow_nan=False, allow_infinity=False)
        case inspect.BoolType():
            return st.booleans()
        case inspect.NoneType():
            return st.none()
        case inspect.AnyType():
            return JSON
        case inspect.EnumType(cls=cls):
            return st.sampled_from(list(cls))
        case inspect.LiteralType(values=values):
            return st.sampled_from(values)
        case inspect.DictType(key_type=key, value_type=value):
            return st.dictionaries(anything(key), anything(value), max_size=2)
        case inspect.UnionType(types=types):
            return st.one_of([anything(option) for option in types])
        case inspect.ListType(item_type=item):
            return st.lists(anything(item), max_size=2)
        case inspect.VarTupleType(item_type=item):
            return st.lists(anything(item), max_size=2).map(tuple)
        case inspect.StructType(cls=cls, fields=fields):
            return st.builds(cls, **{field.name: anything(field.type) for field in fields})
        case _:
            raise AssertionError(f"no strategy for {kind}")


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.sampled_from(sorted(EVENT_TYPES)).flatmap(lambda name: anything(inspect.type_info(EVENT_TYPES[name]))))
def test_any_event_comes_back_the_same(event: Any) -> None:
    data = encode(event)
    assert decode_event(data) == event
    assert encode(decode_event(data)) == data


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.sampled_from(contracts()).flatmap(lambda kind: anything(inspect.type_info(kind))))
def test_any_contract_comes_back_the_same(value: Any) -> None:
    assert decode(encode(value), type(value)) == value


@given(st.floats())
def test_a_number_json_cannot_hold_is_never_written_as_one(number: float) -> None:
    data = json.loads(encode({"n": number}))
    assert data["n"] == (number if math.isfinite(number) else None)
