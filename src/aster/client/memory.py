"""Memory over the wire: what is remembered, where it came from, and forgetting it.

A record's own fields (`subject`, `content`, …) depend on its kind; they are in `fields` beside what every record has.
"""

from collections.abc import AsyncGenerator, Sequence
from typing import Any
from urllib.parse import quote

import msgspec

from aster.client.wire import Wire
from aster.contracts.model import Contract


class ReceiptRecord(Contract):
    """Where a memory came from, and what became of it."""

    extractor: str
    created_at: str
    confidence: float = 1.0
    task_id: str | None = None
    first_seq: int = 0
    last_seq: int = 0
    derived_from: tuple[str, ...] = ()
    uses: int = 0
    last_used_at: str | None = None


class MemoryRecord(Contract):
    id: str
    store: str
    kind: str
    text: str
    confidence: float
    strength: float
    event_at: str
    valid_from: str
    receipt: ReceiptRecord
    valid_until: str | None = None
    superseded_by: str | None = None
    score: float | None = None
    reasons: dict[str, float] = {}
    fields: dict[str, Any] = {}


class MemoryPage(Contract):
    records: tuple[MemoryRecord, ...]
    next: int | None = None


class MemoryHits(Contract):
    hits: tuple[MemoryRecord, ...]
    notice: str | None = None


class MemoryWritten(Contract):
    action: str
    record: MemoryRecord
    replaced: tuple[str, ...] = ()


class DoomedRecord(Contract):
    id: str
    store: str
    text: str
    why: str
    because: str


class TouchedTask(Contract):
    task_id: str
    why: str


class ForgetPreview(Contract):
    records: tuple[DoomedRecord, ...]
    tasks: tuple[TouchedTask, ...]


class Forgotten(Contract):
    forgotten: tuple[str, ...]
    deleted_tasks: tuple[str, ...] = ()


class Imported(Contract):
    imported: int
    known: int
    skills: int = 0


class StoreSize(Contract):
    store: str
    records: int
    superseded: int


class MemoryStatistics(Contract):
    stores: tuple[StoreSize, ...]
    pending: int
    model: str | None = None
    fault: str | None = None


class SoulRecord(Contract):
    identity: str
    values: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    voice: str | None = None
    version: int = 0


_OWN = frozenset(MemoryRecord.__struct_fields__) - {"fields"}


class MemoryClient:
    """The part of a client that is about memory."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    async def search(self, query: str, *, stores: Sequence[str] = (), limit: int = 20) -> MemoryHits:
        """The best of these stores, or of all."""
        body: dict[str, Any] = {"query": query, "limit": limit, **({"stores": list(stores)} if stores else {})}
        found = await self._wire.ask(dict[str, Any], "POST", "/memory/search", body=body)
        return MemoryHits(hits=tuple(map(_record, found["hits"])), notice=found.get("notice"))

    async def list(
        self,
        *,
        store: str | None = None,
        task_id: str | None = None,
        superseded: bool = False,
        limit: int = 50,
        before: int | None = None,
    ) -> MemoryPage:
        """One page, newest first."""
        params = {
            "store": store,
            "task_id": task_id,
            "superseded": superseded or None,
            "limit": limit,
            "before": before,
        }
        found = await self._wire.ask(dict[str, Any], "GET", "/memory/records", params=params)
        return MemoryPage(records=tuple(map(_record, found["records"])), next=found.get("next"))

    async def get(self, record_id: str) -> MemoryRecord:
        return _record(await self._wire.ask(dict[str, Any], "GET", _path(record_id)))

    async def history(self, record_id: str) -> tuple[MemoryRecord, ...]:
        """Every version, oldest first."""
        found = await self._wire.ask(dict[str, Any], "GET", f"{_path(record_id)}/history")
        return tuple(map(_record, found["records"]))

    async def write(self, kind: str, fields: dict[str, Any], **receipt: Any) -> MemoryWritten:
        """Remember something; `receipt` takes task_id, first_seq, last_seq, extractor, derived_from, confidence,
        event_at, valid_from and valid_until."""
        body = {"kind": kind, "fields": fields, **receipt}
        return _written(await self._wire.ask(dict[str, Any], "POST", "/memory/records", body=body))

    async def correct(self, record_id: str, fields: dict[str, Any]) -> MemoryWritten:
        """What was wrong, as it should be."""
        return _written(await self._wire.ask(dict[str, Any], "PATCH", _path(record_id), body={"fields": fields}))

    async def preview(self, ids: Sequence[str] = (), *, task_id: str | None = None) -> ForgetPreview:
        """What a forget would take along."""
        return await self._wire.ask(ForgetPreview, "POST", "/memory/forget/preview", body=_doomed(ids, task_id))

    async def forget(
        self, ids: Sequence[str] = (), *, task_id: str | None = None, delete_tasks: bool = False
    ) -> Forgotten:
        """Forget, with all that the preview shows."""
        body = {**_doomed(ids, task_id), "delete_tasks": delete_tasks}
        return await self._wire.ask(Forgotten, "POST", "/memory/forget", body=body)

    async def soul(self) -> SoulRecord:
        return await self._wire.ask(SoulRecord, "GET", "/memory/soul")

    async def statistics(self) -> MemoryStatistics:
        return await self._wire.ask(MemoryStatistics, "GET", "/memory/statistics")

    async def export(self) -> AsyncGenerator[bytes]:
        """The bundle, piece by piece."""
        async with self._wire.open("GET", "/memory/export") as response:
            async for chunk in self._wire.chunks(response):
                yield chunk

    async def take_in(self, bundle: dict[str, Any]) -> Imported:
        """Import a bundle, or a part of one."""
        return await self._wire.ask(Imported, "POST", "/memory/import", body=bundle)


def _record(found: dict[str, Any]) -> MemoryRecord:
    own = {name: value for name, value in found.items() if name in _OWN}
    rest = {name: value for name, value in found.items() if name not in _OWN}
    return msgspec.convert({**own, "fields": rest}, MemoryRecord)


def _written(found: dict[str, Any]) -> MemoryWritten:
    return MemoryWritten(
        action=found["action"], record=_record(found["record"]), replaced=tuple(found.get("replaced", ()))
    )


def _doomed(ids: Sequence[str], task_id: str | None) -> dict[str, Any]:
    return {"ids": list(ids), **({"task_id": task_id} if task_id is not None else {})}


def _path(record_id: str) -> str:
    return f"/memory/records/{quote(record_id, safe='')}"
