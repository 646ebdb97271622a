"""A running turn: its state, and the only way to write to its thread.

What is written is folded into the state at once and committed in the background, in order; `flush` waits until
it is durable. A tool is only run after a flush, an end is only told after one, and a model call overlaps with the
commits before it.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from aster.brain.protocol import Brain
from aster.brain.records import Row, ThreadKey
from aster.brain.teams import Seat
from aster.brain.unit import Conflict, Deed, Owned
from aster.contracts.events import Event, ManifestEntry, MediaNotice, ToolProgress, WorkUpdate
from aster.contracts.messages import Message
from aster.contracts.tools import ToolDef
from aster.contracts.turn import TurnState
from aster.contracts.worktrees import Worktree
from aster.engine_core import stripped_media
from aster.engine_core.agents.showing import Pace, show
from aster.engine_core.boundary import Boundary
from aster.engine_core.context.layers import Layer
from aster.engine_core.context.prompt import Prompt
from aster.engine_core.context.tokens import Anchor
from aster.engine_core.fold import apply, place
from aster.engine_core.redaction import cleaned
from aster.engine_core.replaying.recorded import Recorded
from aster.engine_core.signals import Lost
from aster.infra.secrets import Secrets


@dataclass(slots=True)
class Turn:
    """`steered`: the inbox may hold something for it; `arriving`: so many messages are on their way there;
    `yielding`: it is to stop at the next safe boundary; `soul`: who the agent is for this user; `anchor`: what the
    provider counted of the newest prompt; `futile`: how full the window may be without being compacted, because
    that was not worth it or has just been done; `notes`: the instructions of its workspace; `layers`: all
    instructions of the newest prompt; `visited`: paths whose directories have been looked at; `prompt`: the newest
    prompt that was answered; `shown`: the entries of its newest manifest; `tools`: what its model is offered;
    `skills`: what it is told of the skills there are; `pace`: how often what its tools say is shown above;
    `recorded`: the turn that it replays; `places`: by which its model is told of more tools than all are
    (aster.utility_directory.places); `seat`: that of its task in a team, `mail`: what it was told of its mail and no
    model call has seen. `tree`: the worktree it works in, `moved`: that has to be looked up, `astray`: why nothing can
    be done there."""

    key: ThreadKey
    brain: Brain
    state: TurnState
    history: list[Message]
    secrets: Secrets
    request_id: str | None = None
    started: float = 0.0
    steered: bool = True
    arriving: int = 0
    yielding: bool = False
    boundary: Boundary | None = None
    soul: str = ""
    anchor: Anchor | None = None
    notes: tuple[Layer, ...] = ()
    layers: tuple[Layer, ...] = ()
    visited: set[str] = field(default_factory=set[str])
    prompt: Prompt | None = None
    shown: tuple[ManifestEntry, ...] = ()
    futile: int = 0
    tools: tuple[ToolDef, ...] = ()
    skills: tuple[Layer, ...] = ()
    pace: Pace = field(default_factory=Pace)
    recorded: Recorded | None = None
    places: frozenset[str] = frozenset()
    seat: Seat | None = None
    mail: tuple[int, ...] = ()
    tree: Worktree | None = None
    moved: bool = True
    astray: str = ""
    _writing: "deque[asyncio.Future[list[Event]]]" = field(default_factory=deque["asyncio.Future[list[Event]]"])

    @property
    def turn_id(self) -> str:
        return self.state.turn_id

    @property
    def home(self) -> ThreadKey:
        """The task of the person it works for, whose workspace, grants and budgets are its own."""
        parent = self.state.request.parent
        return self.key if parent is None else ThreadKey(self.key.user_id, parent.home_task_id)

    @property
    def ground(self) -> ThreadKey:
        """The task whose workspace its prompts tell of: of a replay, that of the turn it replays."""
        replay = self.state.request.replay
        return self.home if replay is None else ThreadKey(self.key.user_id, replay.home_task_id)

    @property
    def seen(self) -> tuple[Message, ...]:
        """The conversation as the model is shown it."""
        return (*self.history, *self.state.messages[self.state.covered :])

    def write(
        self,
        *events: Event,
        rows: Sequence[Row] = (),
        deed: Deed | None = None,
        beside: Sequence[ThreadKey] = (),
    ) -> None:
        """Put records on the thread; the state moves on now, durability follows. A `deed` that is never refused is done
        in the same commit, and tells on the threads `beside` what belongs there."""
        self._settle()
        kept = [cleaned(self.secrets, event) for event in events]
        for event in kept:
            apply(self.state, event)
            if isinstance(event, MediaNotice):
                self.history = stripped_media.cleared(self.state, self.history)
        guard = Owned(self.turn_id)
        done = self.brain.append(self.key, self.turn_id, kept, rows=rows, guard=guard, deed=deed, beside=beside)
        self.track(done)
        if self.state.request.parent is not None:
            self.pace.over(kept)
            self._show(kept)

    async def change(self, deed: Deed, beside: Sequence[ThreadKey] = ()) -> None:
        """Do a deed, with what tells of it on the thread, and on those `beside`, in the same commit; `EngineError` when
        it is refused."""
        done = self.brain.append(self.key, self.turn_id, (), guard=Owned(self.turn_id), deed=deed, beside=beside)
        done.add_done_callback(_seen)
        try:
            told = await asyncio.shield(done)
        except Conflict as conflict:
            raise Lost(str(conflict)) from conflict
        for event in told:
            apply(self.state, event)
            place(self.state, event)
            self.moved = self.moved or isinstance(event, WorkUpdate)
        self._show(told)

    def track(self, done: "asyncio.Future[list[Event]]") -> None:
        """Follow a commit that was begun for this turn."""
        done.add_done_callback(_seen)
        self._writing.append(done)

    def emit(self, event: Event) -> None:
        """Put a delta on the thread, cleaned of secrets by whoever streams it; the state does not depend on it."""
        self.brain.emit(self.key, self.turn_id, event)
        if self.state.request.parent is not None and isinstance(event, ToolProgress):
            shown = self.pace.let(event, time.monotonic())
            self._show(() if shown is None else (shown,))

    def _show(self, events: Sequence[Event]) -> None:
        """Show what a sub-agent does on the thread of the person's task."""
        request = self.state.request
        if request.parent is not None and request.agent is not None and self.home != self.key:
            show(self.brain, self.key.user_id, self.turn_id, request.agent.name, request.parent, events)

    async def flush(self) -> None:
        """Wait until everything written so far is durable, and its place on the thread known."""
        while self._writing:
            await asyncio.wait([self._writing[0]])
            self._settle()

    def when_durable(self, action: Callable[[], None]) -> None:
        """Do something once everything written so far is committed."""
        if self._writing:
            self._writing[-1].add_done_callback(lambda _: action())
        else:
            action()

    def _settle(self) -> None:
        """Note the places of what has been committed meanwhile."""
        while self._writing and self._writing[0].done():
            try:
                for event in self._writing.popleft().result():
                    place(self.state, event)
            except Conflict as conflict:
                raise Lost(str(conflict)) from conflict


def _seen(done: "asyncio.Future[list[Event]]") -> None:
    """A turn that is left behind does not come back for its failures; they are not news then."""
    if not done.cancelled():
        done.exception()
