"""The batch: what has happened becomes proposals of a worker model, and those that hold become a changeset.

Entries of one person are claimed, read and acknowledged in the very commit that keeps the changeset, a few at a time,
so that what was learned from the first is known when the next are read. Whatever cuts it off leaves them to the next.
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from hashlib import sha256
from typing import Any, Final

from msgspec.structs import replace

from aster.brain.learning import Claim, Entry
from aster.brain.memory_kinds import Store
from aster.brain.memory_records import MemoryRow
from aster.contracts.errors import EngineError
from aster.contracts.learning import ChangeItem, Changeset
from aster.infra.ids import new_id
from aster.learning_centre import extraction, material
from aster.learning_centre.material import Happening, Heard
from aster.learning_centre.sifting import Sifting
from aster.learning_centre.workbench import Asked, Workbench, draft_of

AT_ONCE: Final = 12
"""Entries of one changeset at most."""
MOST_CHARS: Final = 24_000
"""Of what people said in them, that a small model can read at a time."""
LEASE_MS: Final = 60_000
"""How long entries stay with somebody of whom nothing is heard; it is kept as long as the work goes on."""
TRIES: Final = 5
"""After so many an entry is set aside, where a person sees it."""
CUT_OFF: Final = "Whoever read it was cut off each time, as if the engine had been stopped by it."
ALONE: Final = 2
"""One that has failed so often is read alone, so that it takes no others along."""
AGAIN_MS: Final = 60_000
REST_MS: Final = 300_000
"""How long a worker that does not answer is left alone; nothing is set aside because of it."""
PASSING: Final = frozenset({"now", "after", "ask"})
KNOWN_EACH: Final = 6
MOST_KNOWN: Final = 90
MOST_TRAITS: Final = 40
"""What is known of the person is always shown: it is said in other words than those it is kept in."""
UNSHOWN: Final = "It would take the place of a record that the model was not shown."
_SHOWN: Final[tuple[Store, ...]] = ("knowledge", "profile", "social")


class Unreadable(Exception):
    """A model's reply is no JSON object: nothing can be told from it, not even that there is nothing to learn."""

    def __str__(self) -> str:
        return "The model's reply could not be read."


class Batch:
    name = "batch"
    cooldown_seconds = 60.0
    rounds = 200

    def __init__(self, idle_seconds: float, lease_ms: int = LEASE_MS) -> None:
        self.idle_seconds = idle_seconds
        self._lease_ms = lease_ms

    async def users(self, bench: Workbench) -> Sequence[str]:
        return await bench.store.waiting_users(bench.now())

    async def due(self, bench: Workbench, user_id: str) -> bool:
        return bool(await bench.store.waiting_users(bench.now(), user_id))

    async def run(self, bench: Workbench, user_id: str) -> Changeset | None:
        holder = new_id("batch")
        entries = await self._claimed(bench, user_id, holder)
        if not entries:
            return None
        claim = _claim(holder, entries)
        try:
            return await self._learn(bench, user_id, holder, entries)
        except EngineError as error:
            if error.retry in PASSING:
                await bench.store.give_back(claim, bench.now() + REST_MS)
            else:
                await bench.store.give_up(claim, _later(bench.now(), entries), error.message, TRIES)
            raise
        except Exception as error:
            await bench.store.give_up(claim, _later(bench.now(), entries), str(error)[:500] or repr(error), TRIES)
            raise
        except BaseException:  # it has to wait, or the engine stops: it counts as no attempt
            await asyncio.shield(bench.store.give_back(claim, bench.now()))
            raise

    async def _learn(self, bench: Workbench, user_id: str, holder: str, entries: list[Entry]) -> Changeset | None:
        happenings = [await material.load(bench.services.brain, entry) for entry in entries]
        taken = _some(happenings)
        claim, rest = _claim(holder, entries[: len(taken)]), entries[len(taken) :]
        if rest:
            await bench.store.give_back(_claim(holder, rest), bench.now())
        telling = [one for one in taken if one.telling]
        items: tuple[ChangeItem, ...] = ()
        asked = Asked(None, "", "", 0.0)
        if telling:
            known = await self._known(bench, user_id, telling)
            conversations, said = material.shown(telling)
            question = {"known": _listed(known), "conversations": conversations}
            async with self._kept(bench, claim):
                asked = await bench.ask(user_id, extraction.INSTRUCTIONS, question, extraction.MOST_TOKENS)
            if asked.data is None:
                raise Unreadable
            souls = await bench.memory.soul(user_id)
            tried = [str(trial.fields.get("trigger", "")) for trial in await bench.store.trials(user_id, limit=500)]
            found = extraction.proposals(asked.data)
            items = await asyncio.to_thread(
                lambda: Sifting(bench.memory, user_id, known, said, souls, tried).items(found)
            )
            items = await _of_what_was_shown(bench, user_id, known, items)
        changeset = Changeset(
            changeset_id=_named(entries[: len(taken)]),
            user_id=user_id,
            kind="batch",
            status="proposed",
            title=_title(items),
            created_at=bench.now(),
            night=bench.night,
            items=items,
            model=asked.model,
            cost_usd=asked.cost_usd,
            entries=len(taken),
        )
        return await bench.commit(changeset, claim)

    async def _claimed(self, bench: Workbench, user_id: str, holder: str) -> list[Entry]:
        """The next entries of a person. One that has cut off everybody who read it is set aside unread: it would do so
        for ever."""
        while True:
            now = bench.now()
            found = await bench.store.claim(
                holder, now=now, until=now + self._lease_ms, limit=AT_ONCE, user_id=user_id
            )
            cutting = [entry for entry in found if entry.attempts >= TRIES]
            if cutting:
                await bench.store.give_up(_claim(holder, cutting), now, CUT_OFF, TRIES)
            if len(cutting) < len(found) or not found:
                return [entry for entry in found if entry.attempts < TRIES]

    @asynccontextmanager
    async def _kept(self, bench: Workbench, claim: Claim) -> AsyncGenerator[None]:
        """The claim is kept as long as this lasts."""

        async def keep() -> None:
            while True:
                await asyncio.sleep(self._lease_ms / 3000)
                await bench.store.keep_claim(claim, bench.now() + self._lease_ms)

        keeping = asyncio.create_task(keep(), name="learning claim")
        try:
            yield
        finally:
            keeping.cancel()
            await asyncio.gather(keeping, return_exceptions=True)

    async def _known(self, bench: Workbench, user_id: str, happenings: Sequence[Happening]) -> dict[str, MemoryRow]:
        """The records nearest to what was said: what a model may correct, and what it need not say again."""
        known: dict[str, MemoryRow] = {}
        meant = [
            one.signal.target_id for one in happenings if one.signal is not None and one.signal.target == "memory"
        ]
        profile = await bench.memory.page(user_id, limit=MOST_TRAITS, store="profile")
        for row in (*await bench.memory.found(user_id, meant), *profile):
            known[row.id] = row
        said: list[Heard] = [heard for one in happenings for heard in one.heard]
        for heard in said:
            if len(known) >= MOST_KNOWN:
                break
            found = await bench.memory.search(user_id, heard.text[:1000], _SHOWN, limit=KNOWN_EACH, isolated=True)
            rows = (match.row for matches in found.stores.values() for match in matches)
            known |= {row.id: row for row in rows if row.superseded_by is None and row.valid_until is None}
        return known


async def _of_what_was_shown(
    bench: Workbench, user_id: str, known: Mapping[str, MemoryRow], items: tuple[ChangeItem, ...]
) -> tuple[ChangeItem, ...]:
    """The items without those that would end what the model has not seen."""
    written = [
        item for item in items if item.action == "write" and item.status == "proposed" and item.kind != "soul"
    ]
    rows = {item.place: bench.memory.row(user_id, draft_of(item), bench.now()) for item in written}
    held = await bench.store.holders(rows)
    return tuple(
        replace(item, status="refused", reason=UNSHOWN) if held.get(item.place, set()) - known.keys() else item
        for item in items
    )


def _later(now: int, entries: Sequence[Entry]) -> int:
    """When to try again: the longer, the more often it has failed."""
    return now + AGAIN_MS * 2 ** max(entry.attempts for entry in entries)


def _some(happenings: Sequence[Happening]) -> list[Happening]:
    """As many as can be read at a time, one at least; one that others have failed on is read alone."""
    taken: list[Happening] = []
    size = 0
    for one in happenings:
        size += sum(len(heard.text[: material.SAID_CHARS]) for heard in one.heard) + len(one.answer)
        if taken and (size > MOST_CHARS or max(taken[0].entry.attempts, one.entry.attempts) >= ALONE):
            break
        taken.append(one)
    return taken


def _listed(known: dict[str, MemoryRow]) -> list[dict[str, Any]]:
    return [{"id": row.id, "kind": row.kind, "text": row.text[:300]} for row in known.values()]


def _claim(holder: str, entries: Sequence[Entry]) -> Claim:
    return Claim(holder=holder, numbers=tuple(entry.number for entry in entries))


def _named(entries: Sequence[Entry]) -> str:
    """The same for the same entries: however often it is tried, there is one changeset of them."""
    names = "\n".join(sorted(entry.entry_id for entry in entries))
    return f"batch-{sha256(names.encode()).hexdigest()[:24]}"


def _title(items: Sequence[ChangeItem]) -> str:
    good = [item for item in items if item.status == "proposed"]
    if not good:
        return "Nothing to learn"
    kinds = {kind: sum(item.kind == kind for item in good) for kind in dict.fromkeys(item.kind for item in good)}
    return "Learned " + ", ".join(f"{count} {kind}{'s' if count > 1 else ''}" for kind, count in kinds.items())
