"""Short words for what the tests of learning say often."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from aster.brain.learning import Claim, Entry, LearningEntryRow
from aster.brain.memory_records import MemoryRow
from aster.brain.protocol import Brain
from aster.brain.records import ThreadKey
from aster.brain.sql.connection import Connection
from aster.brain.unit import Idle, Owned
from aster.contracts.events import Phase
from aster.contracts.learning import ChangeItem, Changeset, ChangesetKind, EntryKind, ItemAction
from aster.contracts.model import encode
from aster.infra.secrets import Secrets
from aster.memory.drafts import Draft, row_of
from tests.brain.thread import ending, opening

NIGHT = "2026-03-01"
NOW = 1_000_000


def row(draft: Draft, user_id: str = "ada", now: int = NOW) -> MemoryRow:
    return row_of(draft, user_id, Secrets(), now)


def fact(content: str, subject: str = "", predicate: str = "", **rest: Any) -> Draft:
    return Draft("fact", {"content": content, "subject": subject, "predicate": predicate}, **rest)


class Drawn:
    """A changeset that is being put together, with the records of its items."""

    def __init__(self, name: str, user_id: str = "ada", kind: ChangesetKind = "batch", night: str = NIGHT) -> None:
        self.items: list[ChangeItem] = []
        self.rows: dict[int, MemoryRow] = {}
        self._head: dict[str, Any] = {"changeset_id": name, "user_id": user_id, "kind": kind, "night": night}

    def write(self, draft: Draft, action: ItemAction = "write", **rest: Any) -> "Drawn":
        place = len(self.items) + 1
        self.rows[place] = made = row(draft, self._head["user_id"])
        self.items.append(ChangeItem(place=place, action=action, kind=draft.kind, fields=made.fields, **rest))
        return self

    def merge(self, draft: Draft, *sources: str) -> "Drawn":
        return self.write(draft, "merge", sources=sources)

    def add(self, action: ItemAction, **rest: Any) -> "Drawn":
        self.items.append(ChangeItem(place=len(self.items) + 1, action=action, **{"kind": "fact", **rest}))
        return self

    @property
    def changeset(self) -> Changeset:
        return Changeset(**self._head, status="proposed", title="Learned", created_at=NOW, items=tuple(self.items))


async def applied(brain: Brain, drawn: Drawn, claim: Claim | None = None, *, apply: bool = True) -> Changeset:
    done = await brain.learning.commit(drawn.changeset, apply=apply, claim=claim, now=NOW, rows=drawn.rows)
    assert done is not None
    return done


async def exported(brain: Brain, user_id: str = "ada") -> bytes:
    return encode(await brain.memory.since(user_id, 0, 10_000))


async def ended(
    brain: Brain, turn_id: str, *, user_id: str = "ada", task_id: str = "task-1", kind: EntryKind = "turn"
) -> None:
    """A turn that ends with an entry in the queue."""
    key = ThreadKey(user_id, task_id)
    entry = LearningEntryRow(
        entry_id=turn_id, user_id=user_id, kind=kind, task_id=task_id, turn_id=turn_id, created_at=NOW
    )
    await brain.append(key, turn_id, opening(message_id=f"msg-{turn_id}"), guard=Idle())
    await brain.append(key, turn_id, [ending(Phase.COMPLETED)], rows=[entry], guard=Owned(turn_id))


def claim_of(holder: str, entries: list[Entry]) -> Claim:
    return Claim(holder=holder, numbers=tuple(entry.number for entry in entries))


@contextmanager
def transaction(db: Connection) -> Generator[None]:
    db.execute("BEGIN")
    done = False
    try:
        yield
        done = True
    finally:
        db.execute("COMMIT" if done else "ROLLBACK")
