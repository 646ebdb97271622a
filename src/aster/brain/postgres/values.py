"""What Python's values are on the wire to PostgreSQL, and back.

Parameters go without a type: the server knows each from where it stands, as SQLite does, so one prepared statement
serves every value. Flags are numbers. Text cannot hold a NUL there, which becomes U+FFFD, nor half a character.
"""

from collections.abc import Callable, Sequence
from struct import Struct
from typing import Any, Final, TypeAlias

from psycopg.pq.abc import PGresult

Load: TypeAlias = Callable[[bytes], Any]
Wire: TypeAlias = tuple[list[bytes | None], list[int]]

TEXT: Final = 0
BINARY: Final = 1
_DOUBLE: Final = Struct(">d")
_FLOAT: Final = Struct(">f")
_NUMERIC: Final = Struct(">hhHh")
_BASE: Final = 10_000
_NEGATIVE: Final = 0x4000


def encoded(text: str) -> bytes:
    return (text.replace("\x00", "�") if "\x00" in text else text).encode("utf-8", "replace")


def kept(text: str) -> str:
    """A text as it comes back."""
    return encoded(text).decode()


def packed(parameters: Sequence[Any]) -> Wire:
    """Values and formats of a statement's parameters."""
    values: list[bytes | None] = []
    formats: list[int] = []
    for value in parameters:
        if value is None:
            values.append(None)
            formats.append(TEXT)
        elif isinstance(value, str):
            values.append(encoded(value))
            formats.append(TEXT)
        elif isinstance(value, int):
            values.append(b"%d" % value)
            formats.append(TEXT)
        elif isinstance(value, float):
            values.append(repr(value).encode())
            formats.append(TEXT)
        else:
            values.append(bytes(value))
            formats.append(BINARY)
    return values, formats


def loaders(result: PGresult) -> list[Load]:
    """How the columns of a result are read."""
    return [_LOADERS.get(result.ftype(column), _text) for column in range(result.nfields)]


def rows(result: PGresult, loads: Sequence[Load]) -> list[tuple[Any, ...]]:
    get, columns = result.get_value, list(enumerate(loads))
    return [
        tuple([None if (value := get(row, column)) is None else load(value) for column, load in columns])
        for row in range(result.ntuples)
    ]


def _text(value: bytes) -> str:
    return str(value, "utf-8")


def _integer(value: bytes) -> int:
    return int.from_bytes(value, "big", signed=True)


def _double(value: bytes) -> float:
    return _DOUBLE.unpack(value)[0]


def _float(value: bytes) -> float:
    return _FLOAT.unpack(value)[0]


def _truth(value: bytes) -> bool:
    return value != b"\x00"


def _nothing(value: bytes) -> None:
    return None


def _numeric(value: bytes) -> int | float:
    """A sum: an int when it is whole."""
    count, weight, sign, _ = _NUMERIC.unpack_from(value)
    digits = [_integer(value[at : at + 2]) for at in range(8, 8 + 2 * count, 2)]
    whole = 0
    for digit in digits:
        whole = whole * _BASE + digit
    shift = weight + 1 - count
    number = whole * _BASE**shift if shift >= 0 else whole / _BASE**-shift
    return -number if sign == _NEGATIVE else number


_LOADERS: Final[dict[int, Load]] = {
    16: _truth,
    17: bytes,
    20: _integer,
    21: _integer,
    23: _integer,
    700: _float,
    701: _double,
    1700: _numeric,
    2278: _nothing,
}
"""By the number PostgreSQL has for a type: boolean, bytea, the integers, the floats, numeric and void."""
