"""The base of every contract type: frozen, written strictly, read tolerantly.

A reader ignores fields it does not know (a newer engine wrote them); a writer leaves out fields at their
default, so that adding a field never changes the bytes of what was written before.
"""

import json
from typing import Any, TypeVar, dataclass_transform

import msgspec

T = TypeVar("T")


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(msgspec.field,))
class ContractMeta(msgspec.StructMeta):
    """Makes frozen, keyword-only and omit-defaults the rule for every subclass (msgspec does not inherit them)."""

    def __new__(
        mcls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **config: Any
    ) -> "ContractMeta":
        config = {"frozen": True, "kw_only": True, "omit_defaults": True} | config
        return super().__new__(mcls, name, bases, namespace, **config)


class Contract(msgspec.Struct, metaclass=ContractMeta):
    """A value of the public language."""


_encoder = msgspec.json.Encoder()


def encode(value: Any) -> bytes:
    """The JSON of a contract value; the same value always gives the same bytes."""
    return _encoder.encode(value)


def decode(data: bytes | str, kind: type[T]) -> T:
    """Read a contract value, ignoring fields this version does not know."""
    return msgspec.json.decode(data, type=kind)


def writable(value: T) -> T:
    """A text or a JSON value as it can be written in UTF-8: surrogate pairs joined, lone ones replaced."""
    try:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        text.encode()
    except UnicodeEncodeError as broken:
        whole: Any = broken.object.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return whole if isinstance(value, str) else json.loads(whole)
    return value


def to_builtins(value: Any) -> Any:
    """The same value as plain dicts, lists, strings and numbers."""
    return msgspec.to_builtins(value)
