"""Learning over the wire: how it stands, doing it now, what it changed, and taking it back."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any, Literal, TypeAlias
from urllib.parse import quote

from aster.client.follow import ThreadEvent
from aster.client.wire import Wire
from aster.contracts.events import Heartbeat, Reconnect, decode_event
from aster.contracts.model import Contract
from aster.contracts.sse import SseParser

Decision: TypeAlias = Literal["accept", "reject", "revert"]


class LearningRun(Contract):
    """How a piece of learning went."""

    work: str
    outcome: str
    at: str
    changeset_id: str | None = None
    reason: str = ""


class LearningRuns(Contract):
    runs: tuple[LearningRun, ...]
    task_id: str


class LearningQueue(Contract):
    waiting: int
    claimed: int
    set_aside: int
    done: int
    oldest_at: str | None = None


class LearningWork(Contract):
    name: str
    idle_seconds: float
    cooldown_seconds: float
    last: LearningRun | None = None


class LearningMoney(Contract):
    limit_usd: float | None
    spent_usd: float


class LearningState(Contract):
    mode: str
    by_itself: bool
    review: bool
    task_id: str
    queue: LearningQueue
    works: tuple[LearningWork, ...]
    next_run_at: str | None
    budget: LearningMoney


class Replaced(Contract):
    id: str
    text: str


class Place(Contract):
    task_id: str | None
    first_seq: int
    last_seq: int


class LearnedItem(Contract):
    """One thing that is learned, as a diff."""

    place: int
    action: str
    kind: str
    status: str
    receipt: Place
    before: tuple[Replaced, ...] = ()
    after: str | None = None
    fields: dict[str, Any] = {}
    record_id: str | None = None
    quote: str = ""
    confidence: float = 0.0
    reason: str = ""


class LearnedChange(Contract):
    """A changeset."""

    changeset_id: str
    kind: str
    status: str
    title: str
    night: str
    created_at: str
    items: tuple[LearnedItem, ...] = ()
    decided_at: str | None = None
    decided_by: str | None = None
    model: str | None = None
    cost_usd: float = 0.0
    entries: int = 0
    note: str = ""


class ChangePage(Contract):
    changesets: tuple[LearnedChange, ...]
    next: int | None = None


class NightReverted(Contract):
    night: str
    changesets: tuple[LearnedChange, ...]


class TrialSummary(Contract):
    trial_id: str
    kind: str
    status: str
    fields: dict[str, Any]
    created_at: str
    reason: str = ""
    turns: int = 0
    with_score: float = 0.0
    without_score: float = 0.0
    gain: float = 0.0
    wins: int = 0
    losses: int = 0
    cost_usd: float = 0.0
    record_id: str | None = None
    quote: str = ""
    decided_at: str | None = None
    runs: tuple[dict[str, Any], ...] = ()
    changeset_id: str = ""
    place: int = 0
    receipt: Place | None = None


class TrialPage(Contract):
    trials: tuple[TrialSummary, ...]
    next: int | None = None


class LearnedRecord(Contract):
    """Something that was learned and is remembered, and the words it comes from."""

    record: dict[str, Any]
    changeset_id: str
    place: int
    kind: str
    quote: str = ""
    trial_id: str | None = None
    gain: float | None = None
    utility: dict[str, Any] = {}


class LearnedPage(Contract):
    learned: tuple[LearnedRecord, ...]
    next: int | None = None


class UtilityDay(Contract):
    """What was learned on a day, and what it was good for."""

    day: str
    learned: int = 0
    refused: int = 0
    reverted: int = 0
    promoted: int = 0
    retired: int = 0
    uses: int = 0
    helpful: int = 0
    harmful: int = 0


class UtilityReport(Contract):
    days: tuple[UtilityDay, ...]


class JournalEntry(Contract):
    """Something that happened and is learned from."""

    number: int
    kind: str
    state: str
    created_at: str
    task_id: str | None = None
    turn_id: str | None = None
    signal_id: str | None = None
    attempts: int = 0
    changeset_id: str | None = None
    problem: str = ""


class JournalPage(Contract):
    entries: tuple[JournalEntry, ...]
    next: int | None = None


class ClusterStanding(Contract):
    """How far the agent has come in one field."""

    cluster: str
    tier: str
    runs: int
    wins: int
    brittle: int
    mastered: bool
    saturated: bool
    best: int | None = None


class PlayedChallenge(Contract):
    """A challenge that the agent has met."""

    cluster: str
    tier: str
    title: str
    at: str
    passed: bool
    attempts: int
    score: float
    delta: float
    tool_errors: int
    cost_usd: float
    changeset_id: str
    task_id: str
    first_seq: int
    last_seq: int


class SelfPlayState(Contract):
    enabled: bool
    problem: str | None
    running: bool
    budget: LearningMoney
    cooldown_seconds: float
    clusters: tuple[ClusterStanding, ...]
    runs: tuple[PlayedChallenge, ...]


class SelfPlayStopped(Contract):
    status: str


class LearningClient:
    """The part of a client that is about learning."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    async def status(self) -> LearningState:
        return await self._wire.ask(LearningState, "GET", "/learning")

    async def run(self, works: Sequence[str] = (), *, wait: bool = True) -> LearningRuns:
        """Learn now; without `wait` it is begun, and the learning thread tells how it goes."""
        return await self._wire.ask(
            LearningRuns, "POST", "/learning/run", body={"works": list(works), "wait": wait}
        )

    async def self_play(self) -> SelfPlayState:
        """How far self-play has come."""
        return await self._wire.ask(SelfPlayState, "GET", "/learning/self-play")

    async def play(self, *, cluster: str | None = None, cycles: int = 1, wait: bool = False) -> LearningRuns:
        """Let the agent meet challenges now."""
        body = {"cluster": cluster, "cycles": cycles, "wait": wait}
        return await self._wire.ask(LearningRuns, "POST", "/learning/self-play", body=body)

    async def stop_self_play(self) -> None:
        """End self-play that is under way."""
        await self._wire.ask(SelfPlayStopped, "POST", "/learning/self-play/stop")

    async def changesets(
        self,
        *,
        status: str | None = None,
        kind: str | None = None,
        night: str | None = None,
        limit: int = 20,
        before: int | None = None,
    ) -> ChangePage:
        """One page, newest first."""
        params = {"status": status, "kind": kind, "night": night, "limit": limit, "before": before}
        return await self._wire.ask(ChangePage, "GET", "/learning/changesets", params=params)

    async def changeset(self, changeset_id: str) -> LearnedChange:
        return await self._wire.ask(LearnedChange, "GET", _place(changeset_id))

    async def decide(self, changeset_id: str, decision: Decision, places: Sequence[int] = ()) -> LearnedChange:
        """Accept, reject or revert a changeset, or some of its items."""
        return await self._wire.ask(
            LearnedChange, "POST", f"{_place(changeset_id)}/{decision}", body={"places": list(places)}
        )

    async def revert_night(self, night: str) -> NightReverted:
        """Take back everything that was learned on a day (UTC)."""
        return await self._wire.ask(NightReverted, "POST", "/learning/revert", body={"night": night})

    async def trials(self, *, status: str | None = None, limit: int = 50, before: int | None = None) -> TrialPage:
        params = {"status": status, "limit": limit, "before": before}
        return await self._wire.ask(TrialPage, "GET", "/learning/trials", params=params)

    async def trial(self, trial_id: str) -> TrialSummary:
        return await self._wire.ask(TrialSummary, "GET", f"/learning/trials/{quote(trial_id, safe='')}")

    async def learned(self, *, limit: int = 50, before: int | None = None) -> LearnedPage:
        """What was learned about you, and from where."""
        return await self._wire.ask(
            LearnedPage, "GET", "/learning/learned", params={"limit": limit, "before": before}
        )

    async def utility(self, *, days: int = 30) -> tuple[UtilityDay, ...]:
        """What learning was good for, day by day, newest first."""
        return (await self._wire.ask(UtilityReport, "GET", "/learning/utility", params={"days": days})).days

    async def journal(self, *, state: str | None = None, limit: int = 50, before: int | None = None) -> JournalPage:
        """What is learned from, newest first; `set_aside` is what could not be."""
        params = {"state": state, "limit": limit, "before": before}
        return await self._wire.ask(JournalPage, "GET", "/learning/journal", params=params)

    async def requeue(self, number: int) -> JournalEntry:
        """Let something that was set aside be tried again."""
        return await self._wire.ask(JournalEntry, "POST", f"/learning/journal/{number}/requeue")

    async def events(self, *, after_seq: int = 0) -> AsyncGenerator[ThreadEvent]:
        """What learning tells, from a place on, for as long as the connection holds."""
        parser = SseParser()
        opening = self._wire.open("GET", "/learning/events", params={"after_seq": after_seq})
        async with opening as response, aclosing(self._wire.chunks(response)) as chunks:
            async for chunk in chunks:
                for frame in parser.feed(chunk):
                    event = decode_event(frame.data)
                    if not isinstance(event, Heartbeat | Reconnect):
                        yield event


def _place(changeset_id: str) -> str:
    return f"/learning/changesets/{quote(changeset_id, safe='')}"
