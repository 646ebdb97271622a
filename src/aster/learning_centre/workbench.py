"""The workbench: what every piece of learning works with, so that all of it has the same manners.

A model is asked behind those who answer people, from a purse of its own; what is learned becomes a changeset in one
commit, and whatever is done is told on the person's learning thread.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import msgspec
from msgspec.structs import replace

from aster.brain.learning import Claim, LearningStore
from aster.brain.memory_kinds import KINDS
from aster.brain.memory_records import MemoryRow
from aster.brain.records import ThreadKey, UsageSlice
from aster.contracts.blocks import TextBlock, text_of
from aster.contracts.errors import EngineError
from aster.contracts.events.learning import LearningPhase, LearningUpdate
from aster.contracts.learning import LEARNING_TASK, ChangeItem, Changeset
from aster.contracts.llm import ModelRequest, ModelRole
from aster.contracts.messages import Message
from aster.contracts.model import encode
from aster.engine_core import errands
from aster.engine_core.budget import Day
from aster.engine_core.engine import Engine
from aster.herald.estimate import most_usd
from aster.herald.profiles import cost_usd
from aster.learning_centre import replies
from aster.memory.drafts import Draft

EXTRACTOR: Final = "learning"
"""Who learned it, in a record's receipt."""
ACTIVE_MS: Final = 30_000
"""For so long after a person's last turn learning stands back."""
REPLAYED: Final = "replays"
COUNTED: Final = 500
"""Replays that are known to have been paid for."""
_REMEMBERED: Final = frozenset({"write", "merge"})


class Deferred(BaseException):
    """It has to wait: a person comes first, or the day's money for learning is used up. Nothing of it is lost."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Asked(NamedTuple):
    """What a worker model said: the object its reply consists of, if it holds one, and its whole text."""

    data: dict[str, Any] | None
    text: str
    model: str
    cost_usd: float


class _Replayed(msgspec.Struct):
    """What the replays of a day have cost, and which were counted last."""

    day: str = ""
    usd: float = 0.0
    counted: list[str] = []


class Workbench:
    """Made for one run. One that `yields` stops between its steps when somebody writes a message; one that a person
    asked for goes on, and only its model calls stand back."""

    def __init__(self, engine: Engine, *, yields: bool) -> None:
        self.engine = engine
        self.services = engine.services
        self.settings = engine.settings
        self.memory = engine.memory
        self.store: LearningStore = engine.brain.learning
        self.yields = yields

    def now(self) -> int:
        return self.services.now()

    @property
    def night(self) -> str:
        """The day (UTC) whose changesets are taken back together."""
        return Day.at(self.now()).name

    async def crowded(self) -> bool:
        """Whether this run has to make room: somebody talks to the engine, or did a moment ago."""
        return self.yields and self.now() - (await self.store.active_at(self.now()) or 0) < ACTIVE_MS

    async def stand_back(self) -> None:
        """Call it between any two steps; raises `Deferred` when a person is active."""
        if await self.crowded():
            raise Deferred("somebody is talking to the engine")

    async def left_usd(self, user_id: str) -> float | None:
        """What learning may still cost today; None when there is no limit."""
        limit = self.settings.lc_budget_usd
        return None if limit is None else max(0.0, limit - await self.spent_usd(user_id))

    async def purse(self, user_id: str) -> float | None:
        """What may still be spent, None when there is no limit; raises `Deferred` when it is used up."""
        left = await self.left_usd(user_id)
        if left is not None and left <= 0:
            raise Deferred(f"the {self.settings.lc_budget_usd} USD for learning today are used up")
        return left

    async def spent_usd(self, user_id: str) -> float:
        """What learning has cost today: its own calls, and the replays it had made."""
        today = Day.at(self.now())
        _, total = await self.services.brain.usage(
            UsageSlice(user_id=user_id, task_id=LEARNING_TASK, since=today.start_ms), "task", 1
        )
        return (total.cost_usd or 0.0) + await self._replayed(user_id, today)

    async def spend(self, user_id: str, replay_task_id: str, usd: float) -> None:
        """Count what a replay has cost learning, once, however often its report is asked for."""
        today, kept = Day.at(self.now()), await self._kept(user_id)
        if replay_task_id in kept.counted:
            return
        spent = await self._replayed(user_id, today) + usd
        kept = _Replayed(today.name, spent, [*kept.counted, replay_task_id][-COUNTED:])
        await self.store.keep_state(user_id, REPLAYED, msgspec.json.encode(kept).decode(), self.now())

    async def _replayed(self, user_id: str, today: Day) -> float:
        kept = await self._kept(user_id)
        return kept.usd if kept.day == today.name else 0.0

    async def _kept(self, user_id: str) -> "_Replayed":
        return msgspec.json.decode(await self.store.state(user_id, REPLAYED) or "{}", type=_Replayed)

    async def ask(
        self, user_id: str, system: str, material: Any, max_tokens: int = 4096, task_id: str = LEARNING_TASK
    ) -> Asked:
        """Ask a worker model about material, which is given to it as JSON. Raises `Deferred` when the day's money is
        used up, `EngineError` when the call fails. What is paid for on the thread of another task has its own money."""
        await self.stand_back()
        left = await self.purse(user_id) if task_id == LEARNING_TASK else None
        role, model = self._seat()
        request = ModelRequest(
            model=model,
            system=system,
            messages=(Message(role="user", content=(TextBlock(text=encode(material).decode()),)),),
            max_tokens=max_tokens,
            temperature=0.0,
            role=role,
        )
        most = most_usd(self.services.herald.assigned(request), self.services.budgets.today().name)
        if left is not None and most is not None and most > left:
            raise Deferred(f"a call may cost {most:.4f} USD, and {left:.4f} USD are left for learning today")
        response = await errands.run(self.services, ThreadKey(user_id, task_id), request, "learning")
        said = text_of(response.blocks)
        cost = cost_usd(response.model, response.usage, self.services.budgets.today().name)
        return Asked(replies.read(said), said, response.model, cost or 0.0)

    def _seat(self) -> tuple[ModelRole, str]:
        """Who is asked, as role and model."""
        if self.settings.llm_pool_worker:
            return "worker", ""
        return "foreground", self.settings.light_model

    async def commit(self, changeset: Changeset, claim: Claim | None = None) -> Changeset | None:
        """Keep a changeset and, unless a person is to accept it first, do what it says; None when somebody else has
        kept it or took over what it was made of. Nothing is half done."""
        changeset, rows = self.rows(changeset)
        empty = all(item.status == "refused" for item in changeset.items)
        apply = not self.settings.lc_review and not empty
        changeset = replace(changeset, status="empty" if empty else "applied" if apply else "proposed")
        kept = await self.store.commit(changeset, rows=rows, apply=apply, claim=claim, now=self.now())
        if kept is not None:
            self.memory.learned(changeset.user_id)
        return kept

    def rows(self, changeset: Changeset) -> tuple[Changeset, dict[int, MemoryRow]]:
        """The records a changeset's items ask for, by their place; what cannot be remembered is refused."""
        rows: dict[int, MemoryRow] = {}
        items: list[ChangeItem] = []
        for item in changeset.items:
            if item.action in _REMEMBERED and item.status == "proposed":
                try:
                    rows[item.place] = self.memory.row(changeset.user_id, draft_of(item), self.now())
                except EngineError as error:
                    item = replace(item, status="refused", reason=error.message)
            items.append(item)
        return replace(changeset, items=tuple(items)), rows

    async def note(self, user_id: str, work: str, phase: LearningPhase, text: str, **more: Any) -> None:
        """Tell on the person's learning thread what is done for them."""
        update = LearningUpdate(work=work, phase=phase, text=text, **more)
        await self.services.brain.append(ThreadKey(user_id, LEARNING_TASK), None, [update])


def draft_of(item: ChangeItem) -> Draft:
    """The record an item asks for."""
    kind = KINDS[item.kind].name  # type: ignore[index]
    return Draft(
        kind,
        item.fields,
        task_id=item.task_id,
        first_seq=item.first_seq,
        last_seq=item.last_seq,
        extractor=EXTRACTOR,
        derived_from=item.sources if item.action == "merge" else item.derived_from,
        confidence=item.confidence,
        event_at=item.event_at,
        valid_from=item.valid_from,
    )


def counted(items: tuple[ChangeItem, ...]) -> Mapping[str, int]:
    """How many items came to what."""
    return {status: sum(item.status == status for item in items) for status in {item.status for item in items}}
