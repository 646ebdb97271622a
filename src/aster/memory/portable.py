"""Memory as a bundle that travels: a versioned JSON document with every record, its history and its receipt.

A bundle holds no vectors (the engine that takes it in makes its own) and no user (it becomes that of whoever takes
it in). What it says is checked like anything else that is to be remembered.
"""

from collections.abc import AsyncIterable, AsyncIterator, Sequence
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from aster.brain.memory_kinds import KindName
from aster.brain.memory_records import MemoryRow
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.model import Contract, encode
from aster.infra.clock import now_iso
from aster.infra.secrets import Secrets
from aster.memory.drafts import fields_of

FORMAT: Final = "aster-memory"
VERSION: Final = 1

Time = Annotated[int, Meta(ge=0, lt=2**53)]
Count = Annotated[int, Meta(ge=0, lt=2**53)]
Id = Annotated[str, Meta(min_length=1, max_length=128, pattern=r"^[^\x00-\x1f\x7f]+$")]
Word = Annotated[str, Meta(max_length=256)]


class Portable(Contract):
    """A record without what is an engine's own. Times are milliseconds since the epoch."""

    id: Id
    kind: KindName
    fields: dict[str, Any]
    created_at: Time
    event_at: Time
    valid_from: Time
    task_id: Word = ""
    first_seq: Count = 0
    last_seq: Count = 0
    extractor: Word = "person"
    derived_from: Annotated[tuple[Id, ...], Meta(max_length=1000)] = ()
    confidence: Annotated[float, Meta(ge=0, le=1)] = 1.0
    valid_until: Time | None = None
    superseded_by: Id | None = None
    uses: Count = 0
    last_used_at: Time | None = None


class Bundle(Contract):
    format: str
    version: int
    records: tuple[Portable, ...]
    exported_at: str = ""
    skills: tuple[msgspec.Raw, ...] = ()


async def bundled(pages: AsyncIterable[list[MemoryRow]], skills: Sequence[Contract] = ()) -> AsyncIterator[bytes]:
    """The JSON of a bundle, piece by piece, with the skills that travel with it."""
    head = {"format": FORMAT, "version": VERSION, "exported_at": now_iso()}
    yield encode(head)[:-1] + b',"records":['
    first = True
    async for page in pages:
        rows = b",\n".join(encode(_portable(row)) for row in page)
        yield rows if first else b",\n" + rows
        first = False
    yield b'],"skills":' + encode(skills) + b"}"


def read_bundle(data: bytes) -> Bundle:
    """A bundle, or what is wrong with it."""
    try:
        found = msgspec.json.decode(data, type=Bundle)
    except msgspec.ValidationError as error:
        raise EngineError(
            ErrorCode.INVALID_REQUEST, f"This is not an exported memory: {error}. Nothing was taken in."
        ) from None
    except msgspec.DecodeError as error:
        raise EngineError(
            ErrorCode.MALFORMED_REQUEST, f"The body is not JSON in UTF-8: {error}. Nothing was taken in."
        ) from None
    if found.format != FORMAT or found.version != VERSION:
        raise EngineError(
            ErrorCode.INVALID_REQUEST,
            f"This engine takes in {FORMAT!r} of version {VERSION}; this is {found.format[:64]!r} of version"
            f" {found.version}. Nothing was taken in.",
            {"format": found.format[:64], "version": found.version},
        )
    return found


def rows_from(bundle: Bundle, user_id: str, secrets: Secrets) -> list[MemoryRow]:
    """The records of a bundle as this user's, all of them checked before the first is kept."""
    return [_row(record, user_id, secrets) for record in bundle.records]


def _row(record: Portable, user_id: str, secrets: Secrets) -> MemoryRow:
    values: dict[str, Any] = {name: getattr(record, name) for name in record.__struct_fields__}
    given = {name: value for name, value in record.fields.items() if value is not None}
    values |= {"user_id": user_id, "fields": fields_of(record.kind, given, secrets)}
    return MemoryRow(**values)


def _portable(row: MemoryRow) -> Portable:
    return Portable(**{name: getattr(row, name) for name in Portable.__struct_fields__})
