"""Memory: what is remembered for each user, written, found, corrected and forgotten.

Everything that changes memory goes through here, so that what is cached is never older than what is kept, what is
kept was checked, and what was forgotten is gone from the file before anybody is told so.
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import replace as redrafted
from typing import Any, Final

from msgspec.structs import replace

from aster.brain.changes import Change
from aster.brain.memory_kinds import KINDS, SEARCHED, KindName, Store
from aster.brain.memory_protocol import MemoryStore
from aster.brain.memory_records import (
    Contradiction,
    DocumentPart,
    DocumentSummary,
    MemoryRow,
    Span,
    Use,
    Written,
)
from aster.contracts.errors import EngineError, ErrorCode
from aster.infra.clock import now_ms
from aster.infra.secrets import Secrets
from aster.memory.acquaintance import Acquaintance, Known
from aster.memory.caps import CAPPED, surplus
from aster.memory.documents import Document, cut
from aster.memory.drafts import Draft, fields_of, row_of
from aster.memory.embeddings.embedder import Embedder
from aster.memory.filling import Filling, Maker
from aster.memory.finding import Answer, Finder
from aster.memory.graph import Way, ways
from aster.memory.lately import Lately
from aster.memory.overview import Preview, State, Statistics
from aster.memory.portable import Bundle, rows_from
from aster.memory.retrieval.tuning import TUNING, Tuning
from aster.memory.shelves import Shelves
from aster.memory.soul import core_soul
from aster.memory.warming import Warming

AT_ONCE: Final = 500
STEP: Final = 100
"""Records written or deleted in one transaction: whatever else is to be written waits no longer than for these."""
MOST: Final = 100_000
"""Records of a store that every replica holds in memory, where the database could search it instead."""
REDACTED: Final = "[redacted"


class Memory:
    """Made around an open store; usable between `start` and `close`."""

    def __init__(
        self,
        store: MemoryStore,
        secrets: Secrets,
        embedder: Embedder | str,
        earlier: Maker,
        tuning: Tuning = TUNING,
        most: int = MOST,
    ) -> None:
        self._store = store
        self._secrets = secrets
        self._model = None if isinstance(embedder, str) else embedder
        self._missing = embedder if isinstance(embedder, str) else None
        self._shelves = Shelves()
        self._acquaintance = Acquaintance(store)
        self._lately = Lately()
        self._filling = Filling(store, self._model, earlier)
        self._warming = Warming(store, self._shelves, self._filling)
        self._most = most
        self._searcher: str | None = None
        self._finder = Finder(store, self._shelves, self._filling, self._missing, self._warming.cold, tuning)

    async def start(self) -> None:
        await self._store.finish_scrubs()
        self._searcher = await self._store.searcher()
        if self._searcher is not None:
            self._finder.most = self._warming.most = self._most
        await self._filling.start()
        await self._warming.start()

    async def close(self) -> None:
        await self._warming.close()
        await self._filling.close()

    async def embedded(self) -> None:
        """Wait until every record has its vector."""
        await self._filling.done()

    async def write(self, user_id: str, drafts: Sequence[Draft]) -> list[Written]:
        """Remember; each record by the rules of its kind."""
        now = now_ms()
        rows = [row_of(draft, user_id, self._secrets, now) for draft in drafts]
        done: list[Written] = []
        for start in range(0, len(rows), STEP):
            done += await self._store.write(rows[start : start + STEP])
        self._acquaintance.wrote(user_id, [written.row for written in done])
        if any(KINDS[written.row.kind].searched for written in done):
            self._filling.wake()
        for kind in CAPPED.keys() & {written.row.kind for written in done if written.action != "duplicate"}:
            await self._tidy(user_id, kind)
        return done

    async def mark(self, user_id: str, record_id: str, *, helpful: bool) -> MemoryRow:
        """Say whether a lesson helped or did harm."""
        row = await self.get(user_id, record_id)
        if row.kind != "lesson":
            raise EngineError(ErrorCode.INVALID_REQUEST, f"{record_id} is a {row.kind}; only lessons are marked.")
        await self._store.mark(user_id, [record_id], helpful=helpful)
        return await self.get(user_id, record_id)

    def row(self, user_id: str, draft: Draft, now: int) -> MemoryRow:
        """The record a draft asks for, to be written in somebody else's commit; `noticed` is called after it."""
        return row_of(draft, user_id, self._secrets, now)

    def again(self, user_id: str, row: MemoryRow) -> bool:
        """Whether the same was said and kept a short while ago."""
        return self._lately.again(user_id, row)

    def noticed(self, user_id: str, rows: Sequence[MemoryRow]) -> None:
        """These new records were written in a commit of a turn."""
        self._acquaintance.wrote(user_id, rows)
        self._lately.heard(user_id, rows)
        self._filling.wake()

    def learned(self, user_id: str) -> None:
        """A changeset of this user's was applied or taken back."""
        self._acquaintance.drop(user_id)
        self._lately.forget(user_id)
        self._filling.wake()

    def noting(self, user_id: str, row: MemoryRow) -> None:
        """This note is about to be written in a commit of a turn."""
        self._acquaintance.wrote(user_id, [row])

    def elsewhere(self, change: Change) -> None:
        """Another replica wrote to the brain: what is kept here of whom it may concern is looked up anew."""
        if not change.touches("memory_receipts"):
            return
        users = {key.user_id for key in change.threads}
        if change.everything or not users:
            self._acquaintance.drop_all()
            self._lately.forget_all()
        for user_id in users:
            self._acquaintance.drop(user_id)

    def stir(self) -> None:
        """A turn begins or ends: what can wait, waits."""
        self._filling.stir()

    async def ingest(self, user_id: str, document: Document, draft: Draft) -> list[Written]:
        """A long text in parts. Parts that are known are left; those a shorter version lacks are forgotten."""
        drafts = [
            redrafted(
                draft,
                fields={"document": document.name, "title": document.title, "position": at, "content": part},
            )
            for at, part in enumerate(cut(document.text))
        ]
        done = await self.write(user_id, drafts)
        kept = {written.row.id for written in done}
        beyond = [name for name in await self._store.parts(user_id, document.name) if name not in kept]
        if beyond:
            await self.forget(user_id, beyond)
        return done

    async def documents(
        self, user_id: str, *, limit: int, task_id: str | None = None, before: int | None = None
    ) -> list[DocumentSummary]:
        """What was put in as documents, the newest first."""
        return await self._store.documents(user_id, limit=limit, task_id=task_id, before=before)

    async def parts_of(self, user_id: str, document: str) -> list[DocumentPart]:
        """The parts of a document, in order."""
        return await self._store.parts_of(user_id, document)

    async def correct(self, user_id: str, record_id: str, changes: Mapping[str, Any], extractor: str) -> Written:
        """A record as it should have been; what it was stays in its history."""
        old = await self.get(user_id, record_id)
        unknown = sorted(set(changes) - set(old.about.columns))
        if unknown or not changes:
            raise EngineError(
                ErrorCode.INVALID_REQUEST,
                f"A {old.kind} has no {', '.join(unknown)}." if unknown else "Say what is to be corrected.",
                {"fields": [{"field": name, "problem": "is unknown"} for name in unknown or ["fields"]]},
            )
        merged = {name: value for name, value in old.fields.items() if value is not None} | dict(changes)
        fields = {**old.fields, **fields_of(old.kind, merged, self._secrets)}
        changed = replace(old, fields=fields, extractor=extractor, created_at=now_ms())
        done = await self._store.correct(user_id, changed)
        if done is None:
            raise EngineError(
                ErrorCode.NOT_FOUND,
                f"Memory {record_id!r} was replaced. Correct the newest version; the history shows which it is.",
                {"superseded_by": old.superseded_by},
            )
        self._acquaintance.wrote(user_id, [done.row])
        self._filling.wake()
        return done

    async def get(self, user_id: str, record_id: str) -> MemoryRow:
        found = await self._store.get(user_id, [record_id])
        if not found:
            raise EngineError(
                ErrorCode.NOT_FOUND, f"There is no memory {record_id!r}. GET /memory/records lists them."
            )
        return found[0]

    async def found(self, user_id: str, ids: Sequence[str]) -> list[MemoryRow]:
        """Those of these records that there are."""
        return await self._store.get(user_id, ids)

    async def page(
        self,
        user_id: str,
        *,
        limit: int,
        store: Store | None = None,
        before: int | None = None,
        task_id: str | None = None,
        superseded: bool = False,
    ) -> list[MemoryRow]:
        """Records, newest first."""
        return await self._store.page(
            user_id, limit=limit, store=store, before=before, task_id=task_id, superseded=superseded
        )

    async def history(self, user_id: str, record_id: str) -> list[MemoryRow]:
        await self.get(user_id, record_id)
        return await self._store.versions(user_id, record_id)

    async def search(
        self,
        user_id: str,
        query: str,
        stores: Sequence[Store] = SEARCHED,
        *,
        limit: int = 20,
        gate: bool = False,
        now: int | None = None,
        isolated: bool = False,
    ) -> Answer:
        """The best records of each store; with `gate`, none where nothing answers the question. `isolated`: a store
        that fails leaves the others their answers."""
        moment = now_ms() if now is None else now
        return await self._finder.search(
            user_id, query, stores, limit=limit, now=moment, gate=gate, isolated=isolated
        )

    def secret_in(self, text: str) -> bool:
        """Whether a text holds a secret, or the mark of one that was taken out."""
        return REDACTED in text or next(self._secrets.found(text, shapes=True), None) is not None

    async def known(self, user_id: str) -> Known:
        """Whether anything is remembered of a user, and their soul; in memory once it was asked."""
        return await self._acquaintance.of(user_id)

    async def use(self, user_id: str, ids: Sequence[str], task_id: str, turn_id: str) -> None:
        """These records entered the context of a turn."""
        await self._store.use(user_id, ids, task_id, turn_id, now_ms())

    async def sources(self, user_id: str, row: MemoryRow) -> list[MemoryRow]:
        """What a record was derived from, as far as it is still remembered."""
        return await self._store.get(user_id, row.derived_from)

    async def uses(self, user_id: str, row: MemoryRow) -> list[Use]:
        return await self._store.uses(user_id, [row.number])

    async def notes(self, user_id: str, task_id: str) -> list[MemoryRow]:
        """The working memory of a task."""
        return await self._store.notes(user_id, task_id, now_ms())

    async def expire(self) -> int:
        """Drop working memory whose time is over."""
        return await self._store.expire(now_ms())

    async def ways(self, user_id: str, words: Sequence[str], *, hops: int, limit: int) -> list[Way]:
        """Ways through the social graph from what the words name."""
        graph = await self._store.graph(user_id, now_ms())
        return await asyncio.to_thread(ways, graph, words, hops, limit)

    async def contradictions(self, user_id: str, limit: int) -> list[tuple[Contradiction, str, str]]:
        """What replaced what, newest first, with both texts."""
        found = await self._store.contradictions(user_id, limit)
        ids = [name for one in found for name in (one.old_id, one.new_id)]
        texts = {row.id: row.text for row in await self._store.get(user_id, ids)}
        return [(one, texts.get(one.old_id, ""), texts.get(one.new_id, "")) for one in found]

    async def soul(self, user_id: str) -> list[MemoryRow]:
        """Every version of the soul, the newest first; the one the engine came with when there is no other."""
        found = await self._store.soul(user_id)
        return found or [core_soul(user_id)]

    async def preview(
        self, user_id: str, ids: Sequence[str], spans: Sequence[Span] = (), documents: Sequence[str] = ()
    ) -> Preview:
        """Everything that would go with records, with what came from parts of threads, and with documents."""
        known = await self._store.get(user_id, ids)
        missing = sorted(set(ids) - {row.id for row in known})
        if missing:
            raise EngineError(
                ErrorCode.NOT_FOUND, f"There is no memory {missing[0]!r}; nothing was forgotten.", {"ids": missing}
            )
        asked = [*ids, *(await self._store.of_spans(user_id, spans))]
        for document in documents:
            asked += await self._store.parts(user_id, document)
        doomed = await self._store.closure(user_id, asked)
        uses = await self._store.uses(user_id, [one.row.number for one in doomed])
        return Preview(doomed, sorted({one.row.task_id for one in doomed} - {""}), uses)

    async def forget(self, user_id: str, ids: Sequence[str]) -> list[MemoryRow]:
        """Forget records and all that hangs on them; when this returns, the file holds nothing of them. It is done
        even if nobody waits for it any more."""
        return await asyncio.shield(self._forget(user_id, ids))

    async def _forget(self, user_id: str, ids: Sequence[str]) -> list[MemoryRow]:
        gone: list[MemoryRow] = []
        for start in range(0, len(ids), STEP):
            gone += await self._store.forget(user_id, ids[start : start + STEP])
        self._acquaintance.drop(user_id)
        self._lately.forget(user_id)
        await self._store.scrub(gone)
        return gone

    async def wipe(self, user_id: str) -> int:
        """Forget everything of a user."""
        return await asyncio.shield(self._wipe(user_id))

    async def _wipe(self, user_id: str) -> int:
        first = await self._store.page(user_id, limit=AT_ONCE, superseded=True)
        gone = await self._store.wipe(user_id)
        self._shelves.drop(user_id)
        self._acquaintance.drop(user_id)
        self._lately.forget(user_id)
        await self._store.scrub(first)
        return gone

    async def records(self, user_id: str) -> AsyncGenerator[list[MemoryRow]]:
        """Everything of a user in the order it came, a few at a time."""
        after = 0
        while page := await self._store.since(user_id, after, AT_ONCE):
            yield page
            after = page[-1].number

    async def restore(self, user_id: str, bundle: Bundle) -> tuple[int, int]:
        """Take in what was exported: how many records were new, and how many were here already."""
        rows = await asyncio.to_thread(rows_from, bundle, user_id, self._secrets)
        done: list[Written] = []
        for start in range(0, len(rows), STEP):
            done += await self._store.restore(user_id, rows[start : start + STEP])
        self._acquaintance.drop(user_id)
        self._filling.wake()
        new = sum(written.action == "created" for written in done)
        return new, len(done) - new

    async def statistics(self, user_id: str | None) -> Statistics:
        """How much is remembered: by one user, or by all."""
        sizes = await self._store.sizes(user_id)
        model = self._model.fingerprint if self._model is not None else None
        pending = (await self._store.model()).pending
        return Statistics(sizes, pending, model, self._filling.fault or self._missing)

    async def state(self) -> State:
        """How memory is, for an operator."""
        pending = (await self._store.model()).pending
        model = self._model.fingerprint if self._model is not None else None
        return State(model, pending, len(self._warming.cold), self._filling.fault, self._missing, self._searched_by)

    @property
    def _searched_by(self) -> str:
        if self._searcher is None:
            return "exact scan in process"
        return f"{self._searcher} for stores of more than {self._most:,} records, in process below"

    async def users(self) -> list[tuple[str, int]]:
        return await self._store.users()

    async def _tidy(self, user_id: str, kind: KindName) -> None:
        """End what is too much of a kind."""
        rows = await self._store.page(user_id, limit=AT_ONCE, store=CAPPED[kind])
        gone = surplus(kind, rows)
        if gone:
            await self._store.retire(user_id, [row.id for row in gone], now_ms())
