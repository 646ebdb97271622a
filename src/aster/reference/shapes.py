"""The fields of a contract in words a reader of JSON understands, with links between the types."""

from collections.abc import Iterator

import msgspec
from msgspec import inspect

from aster.contracts.events import Event
from aster.contracts.model import Contract, encode
from aster.reference.markdown import code, table

PRIMITIVES: dict[type[inspect.Type], str] = {
    inspect.StrType: "string",
    inspect.IntType: "integer",
    inspect.FloatType: "number",
    inspect.BoolType: "boolean",
    inspect.NoneType: "null",
    inspect.AnyType: "anything",
    inspect.DictType: "object",
}


def fields(kind: type[msgspec.Struct]) -> tuple[inspect.Field, ...]:
    info = inspect.type_info(kind)
    assert isinstance(info, inspect.StructType)
    return info.fields


def own_fields(kind: type[Event]) -> tuple[inspect.Field, ...]:
    """The fields of an event beside the envelope."""
    return tuple(field for field in fields(kind) if field.name not in Event.__struct_fields__)


def name(kind: inspect.Type) -> str:
    """A type as it is written in a table."""
    match kind:
        case inspect.UnionType(types=types):
            return " or ".join(name(option) for option in types)
        case inspect.EnumType(cls=cls):
            return ", ".join(code(str(item.value)) for item in cls)
        case inspect.LiteralType(values=values):
            return ", ".join(code(str(value)) for value in values)
        case inspect.VarTupleType(item_type=item) | inspect.ListType(item_type=item):
            return f"array of {name(item)}"
        case inspect.StructType(cls=cls):
            return f"[{cls.__name__}](#{cls.__name__.lower()})"
        case _:
            return PRIMITIVES[type(kind)]


def default(field: inspect.Field) -> str:
    if field.required:
        return "required"
    value = field.default_factory() if field.default is msgspec.NODEFAULT else field.default
    return code(encode(value).decode())


def field_table(listed: tuple[inspect.Field, ...]) -> str:
    """One row per field: name, type, default."""
    rows = [(code(field.encode_name), name(field.type), default(field)) for field in listed]
    return table(("field", "type", "default"), rows)


def mentioned(kind: inspect.Type) -> Iterator[type[msgspec.Struct]]:
    """Every struct a type is made of, itself included."""
    match kind:
        case inspect.UnionType(types=types):
            for option in types:
                yield from mentioned(option)
        case inspect.VarTupleType(item_type=item) | inspect.ListType(item_type=item):
            yield from mentioned(item)
        case inspect.StructType(cls=cls, fields=parts):
            yield cls
            for field in parts:
                yield from mentioned(field.type)
        case _:
            return


def tag(kind: type[msgspec.Struct]) -> str | None:
    """The value of `type` on the wire, for a struct that is told apart by it."""
    found = kind.__struct_config__.tag
    return None if found is None else str(found)


def described(kind: type[msgspec.Struct]) -> str | None:
    """The docstring a struct was given itself."""
    return None if kind.__doc__ in (None, Contract.__doc__) else kind.__doc__
