"""What was learned about a person, from where, and what it has been good for since: read from what is kept, never
counted on the side."""

from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

from aster.brain.learning import LearningStore
from aster.brain.memory_records import MemoryRow
from aster.contracts.errors import EngineError
from aster.contracts.learning import ChangeItem, Changeset, Trial
from aster.engine_core.budget import DAY_MS
from aster.engine_core.engine import Engine
from aster.infra.clock import iso_ms
from aster.learning_centre.workbench import draft_of
from aster.memory.memory import Memory

PAGE: Final = 200
MOST_SIGNALS: Final = 500
_KEPT: Final = frozenset({"applied", "kept"})


class Learned(NamedTuple):
    """A record that was learned, the item it came from, and its trial, if it had one."""

    row: MemoryRow
    changeset: Changeset
    item: ChangeItem
    trial: Trial | None


class Day(NamedTuple):
    """What a day (UTC) brought: items learned and refused, trials promoted and retired, turns that had something
    learned in their context, and what people said of it."""

    day: str
    learned: int
    refused: int
    reverted: int
    promoted: int
    retired: int
    uses: int
    helpful: int
    harmful: int


def wording(memory: Memory, user_id: str, item: ChangeItem) -> str:
    """What an item says, in words: as the record it asks for would, if it is one."""
    try:
        return memory.row(user_id, draft_of(item), item.event_at or 0).text
    except (EngineError, KeyError):
        return " ".join(value for value in item.fields.values() if isinstance(value, str))


async def learned(engine: Engine, user_id: str, limit: int, before: int | None) -> tuple[list[Learned], int | None]:
    """What the newest changesets taught that is still remembered, and where to go on."""
    found = await engine.brain.learning.changesets(user_id, limit=limit + 1, before=before)
    more = found[limit - 1].number if len(found) > limit else None
    items = [(one, item) for one in found[:limit] for item in one.items if item.record_id and item.status in _KEPT]
    rows = {row.id: row for row in await engine.memory.found(user_id, [item.record_id for _, item in items])}
    trials = {trial.record_id: trial for trial in await _trials(engine.brain.learning, user_id) if trial.record_id}
    return [
        Learned(rows[item.record_id], changeset, item, trials.get(item.record_id))
        for changeset, item in items
        if item.record_id in rows
    ], more


async def utility(engine: Engine, user_id: str, days: int, now: int) -> list[Day]:
    """Day by day, the newest first, as far as anything happened."""
    since = (now // DAY_MS - days + 1) * DAY_MS
    counts: dict[str, Counter[str]] = {}
    changesets = await _changesets(engine.brain.learning, user_id, since)
    ids: list[str] = []
    for changeset in changesets:
        count = counts.setdefault(_day(changeset.created_at), Counter())
        for item in changeset.items:
            name = {"applied": "learned", "kept": "learned"}.get(item.status, item.status)
            count[name] += 1
            if name == "learned" and item.record_id:
                ids.append(item.record_id)
    for trial in await _trials(engine.brain.learning, user_id):
        if trial.decided_at is not None and trial.decided_at >= since:
            counts.setdefault(_day(trial.decided_at), Counter())[trial.status] += 1
    rows = await engine.memory.found(user_id, ids)
    for use in await engine.brain.memory.uses(user_id, [row.number for row in rows]):
        if use.used_at >= since:
            counts.setdefault(_day(use.used_at), Counter())["uses"] += use.times
    known = set(ids)
    for signal in await engine.brain.signals(user_id, limit=MOST_SIGNALS, target="memory"):
        if signal.target_id in known and signal.rating and signal.updated_at >= since:
            said = "helpful" if signal.rating > 0 else "harmful"
            counts.setdefault(_day(signal.updated_at), Counter())[said] += 1
    names = Day._fields[1:]
    return [Day(day, *(counts[day][name] for name in names)) for day in sorted(counts, reverse=True)]


async def _changesets(store: LearningStore, user_id: str, since: int) -> list[Changeset]:
    found: list[Changeset] = []
    before: int | None = None
    while page := await store.changesets(user_id, limit=PAGE, before=before):
        found += [one for one in page if one.created_at >= since]
        if len(page) < PAGE or page[-1].created_at < since:
            break
        before = page[-1].number
    return found


async def _trials(store: LearningStore, user_id: str) -> Sequence[Trial]:
    return await store.trials(user_id, limit=10 * PAGE)


def _day(ms: int) -> str:
    return iso_ms(ms)[:10]
