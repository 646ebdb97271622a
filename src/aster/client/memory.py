"""Memory over the wire: what is remembered, where it came from, and forgetting it.

A record's own fields (`subject`, `content`, …) depend on its kind; they are in `fields` beside what every record has.
"""

from collections.abc import AsyncGenerator, Sequence
from typing import Any, Literal
from urllib.parse import quote

import msgspec

from aster.client.memory_records import (
    Contradiction,
    ContradictionList,
    DocumentPage,
    DocumentWritten,
    ForgetPreview,
    Forgotten,
    FullReceipt,
    Imported,
    MemoryHits,
    MemoryPage,
    MemoryRecord,
    MemoryStatistics,
    MemoryUse,
    MemoryWritten,
    ReceiptRecord,
    SocialPath,
    SocialPathList,
    SoulHistory,
    SoulRecord,
    Wiped,
    WorkingMemory,
    WorkingNote,
    read_record,
    read_records,
)
from aster.client.wire import Wire


class MemoryClient:
    """The part of a client that is about memory."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    async def search(self, query: str, *, stores: Sequence[str] = (), limit: int = 20) -> MemoryHits:
        """The best of these stores, or of all."""
        body: dict[str, Any] = {"query": query, "limit": limit, **({"stores": list(stores)} if stores else {})}
        found = await self._wire.ask(dict[str, Any], "POST", "/memory/search", body=body)
        return MemoryHits(hits=read_records(found["hits"]), notice=found.get("notice"))

    async def search_store(self, store: str, query: str, *, limit: int = 20) -> tuple[MemoryRecord, ...]:
        """The best of one store, in its own order."""
        path = f"/memory/{quote(store, safe='')}/search"
        body = {"query": query, "limit": limit}
        return read_records(await self._wire.ask(list[dict[str, Any]], "POST", path, body=body))

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
        return MemoryPage(records=read_records(found["records"]), next=found.get("next"))

    async def get(self, record_id: str) -> MemoryRecord:
        return read_record(await self._wire.ask(dict[str, Any], "GET", _path(record_id)))

    async def receipt(self, record_id: str) -> FullReceipt:
        """Where a memory came from, and which turns had it in their context."""
        found = await self._wire.ask(dict[str, Any], "GET", f"{_path(record_id)}/receipt")
        return FullReceipt(
            receipt=msgspec.convert(found["receipt"], ReceiptRecord),
            sources=read_records(found["sources"]),
            used_in=msgspec.convert(found["used_in"], tuple[MemoryUse, ...]),
        )

    async def history(self, record_id: str) -> tuple[MemoryRecord, ...]:
        """Every version, oldest first."""
        found = await self._wire.ask(dict[str, Any], "GET", f"{_path(record_id)}/history")
        return read_records(found["records"])

    async def write(self, kind: str, fields: dict[str, Any], **receipt: Any) -> MemoryWritten:
        """Remember something; `receipt` takes task_id, first_seq, last_seq, extractor, derived_from, confidence,
        event_at, valid_from and valid_until."""
        body = {"kind": kind, "fields": fields, **receipt}
        return _written(await self._wire.ask(dict[str, Any], "POST", "/memory/records", body=body))

    async def correct(self, record_id: str, fields: dict[str, Any]) -> MemoryWritten:
        """What was wrong, as it should be."""
        return _written(await self._wire.ask(dict[str, Any], "PATCH", _path(record_id), body={"fields": fields}))

    async def mark(self, record_id: str, *, helpful: bool) -> MemoryRecord:
        """Say whether a lesson helped."""
        path = f"/memory/lessons/{quote(record_id, safe='')}/mark"
        return read_record(await self._wire.ask(dict[str, Any], "POST", path, body={"helpful": helpful}))

    async def preview(
        self,
        ids: Sequence[str] = (),
        *,
        documents: Sequence[str] = (),
        task_id: str | None = None,
        first_seq: int = 0,
        last_seq: int | None = None,
    ) -> ForgetPreview:
        """What a forget would take along: records, documents by name, or what came from a task or a part of it."""
        body = _doomed(ids, documents, task_id, first_seq, last_seq)
        return await self._wire.ask(ForgetPreview, "POST", "/memory/forget/preview", body=body)

    async def forget(
        self,
        ids: Sequence[str] = (),
        *,
        documents: Sequence[str] = (),
        task_id: str | None = None,
        first_seq: int = 0,
        last_seq: int | None = None,
        delete_tasks: bool = False,
    ) -> Forgotten:
        """Forget, with all that the preview shows."""
        body = {**_doomed(ids, documents, task_id, first_seq, last_seq), "delete_tasks": delete_tasks}
        return await self._wire.ask(Forgotten, "POST", "/memory/forget", body=body)

    async def wipe(self, *, confirm: Literal["everything"], user_id: str | None = None) -> Wiped:
        """Forget everything, for good; another user's is for the operator."""
        params = {"confirm": confirm, "user_id": user_id}
        return await self._wire.ask(Wiped, "DELETE", "/memory", params=params)

    async def soul(self) -> SoulRecord:
        return await self._wire.ask(SoulRecord, "GET", "/memory/soul")

    async def soul_history(self) -> SoulHistory:
        """The soul and all its versions."""
        found = await self._wire.ask(dict[str, Any], "GET", "/memory/soul/full")
        soul = msgspec.convert({**found, "versions": ()}, SoulHistory)
        return msgspec.structs.replace(soul, versions=read_records(found["versions"]))

    async def change_soul(
        self,
        identity: str,
        *,
        values: Sequence[str] = (),
        patterns: Sequence[str] = (),
        voice: str | None = None,
        derived_from: Sequence[str] = (),
    ) -> SoulRecord:
        """Who the agent is from now on; the old versions stay in the history."""
        body = {
            "identity": identity,
            "values": tuple(values),
            "patterns": tuple(patterns),
            "voice": voice,
            "derived_from": tuple(derived_from),
        }
        return await self._wire.ask(SoulRecord, "PUT", "/memory/soul", body=body)

    async def statistics(self, *, everyone: bool = False) -> MemoryStatistics:
        """How much is remembered; of everyone, for the operator."""
        params = {"everyone": "true" if everyone else None}
        return await self._wire.ask(MemoryStatistics, "GET", "/memory/statistics", params=params)

    async def contradictions(self, *, limit: int = 50) -> tuple[Contradiction, ...]:
        """What replaced what, newest first."""
        params = {"limit": limit}
        found = await self._wire.ask(ContradictionList, "GET", "/memory/contradictions", params=params)
        return found.contradictions

    async def social_paths(self, about: str, *, hops: int = 3, limit: int = 20) -> tuple[SocialPath, ...]:
        """Ways through the social graph from, to and through these names, separated by commas."""
        params = {"about": about, "hops": hops, "limit": limit}
        return (await self._wire.ask(SocialPathList, "GET", "/memory/social/paths", params=params)).ways

    async def add_document(self, document: str, text: str, *, title: str = "", **receipt: Any) -> DocumentWritten:
        """Remember a long text in parts, by its name; `receipt` as with `write`."""
        body = {"document": document, "text": text, "title": title, **receipt}
        return await self._wire.ask(DocumentWritten, "POST", "/memory/documents", body=body)

    async def documents(
        self, *, task_id: str | None = None, limit: int = 50, before: int | None = None
    ) -> DocumentPage:
        """One page of the long texts that are kept, newest first."""
        params = {"task_id": task_id, "limit": limit, "before": before}
        return await self._wire.ask(DocumentPage, "GET", "/memory/documents", params=params)

    async def working(self, task_id: str) -> tuple[WorkingNote, ...]:
        """What was noted in a task, oldest first."""
        found = await self._wire.ask(WorkingMemory, "GET", "/memory/working", params={"task_id": task_id})
        return found.entries

    async def export(self) -> AsyncGenerator[bytes]:
        """The bundle, piece by piece."""
        async with self._wire.open("GET", "/memory/export") as response:
            async for chunk in self._wire.chunks(response):
                yield chunk

    async def take_in(self, bundle: dict[str, Any]) -> Imported:
        """Import a bundle, or a part of one."""
        return await self._wire.ask(Imported, "POST", "/memory/import", body=bundle)


def _written(found: dict[str, Any]) -> MemoryWritten:
    return MemoryWritten(
        action=found["action"], record=read_record(found["record"]), replaced=tuple(found.get("replaced", ()))
    )


def _doomed(
    ids: Sequence[str], documents: Sequence[str], task_id: str | None, first_seq: int, last_seq: int | None
) -> dict[str, Any]:
    said = {"task_id": task_id, "first_seq": first_seq or None, "last_seq": last_seq}
    given = {name: value for name, value in said.items() if value is not None}
    return {"ids": tuple(ids), **({"documents": tuple(documents)} if documents else {}), **given}


def _path(record_id: str) -> str:
    return f"/memory/records/{quote(record_id, safe='')}"
