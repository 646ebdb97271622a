"""The transcript: events folded into what a screen shows.

Feed it a thread's events in order, live or replayed, and it holds the same text as the thread: deltas build a
block, the finished block replaces them, what a `recovery` takes back is gone. Of sub-agents it holds what
they ask a person, the calls they made and what they said, beside the answer and never as part of it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from aster.contracts.blocks import TextBlock, ThinkingBlock, ToolUseBlock, text_of
from aster.contracts.events import (
    ContentBlockStart,
    ContentBlockStop,
    ErrorEvent,
    Event,
    HitlRequest,
    HitlResolved,
    ModelProgress,
    PermissionSuggestion,
    Phase,
    Plan,
    PlanUpdate,
    Recovery,
    RiskSummary,
    SubagentLifecycle,
    TextDelta,
    ThinkingDelta,
    ThreadLifecycle,
    TodoItem,
    TodoUpdate,
    ToolCallIssued,
    ToolProgress,
    ToolResult,
    Uncertainty,
    Usage,
    UserMessage,
    Verification,
)

CardStatus: TypeAlias = Literal["written", "waiting", "running", "done", "failed"]


@dataclass(slots=True)
class Said:
    """Something a person said."""

    turn_id: str
    seq: int
    message_id: str
    text: str


@dataclass(slots=True)
class Passage:
    """A block of the answer (or of the thinking before it), growing until it is `done`."""

    turn_id: str
    seq: int
    step: int
    index: int
    thinking: bool
    done: bool = False
    pieces: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])

    @property
    def text(self) -> str:
        return "".join(text for _, text in self.pieces)


@dataclass(slots=True)
class ToolCard:
    """A tool call from the moment the model writes it to its result; a sub-agent's has that one's name and `depth`."""

    turn_id: str
    seq: int
    step: int
    index: int
    tool: str
    call_id: str
    input: dict[str, Any] = field(default_factory=dict[str, Any])
    status: CardStatus = "written"
    progress: str = ""
    output: str = ""
    error: str | None = None
    duration_ms: int | None = None
    agent: str = ""
    depth: int = 0


@dataclass(slots=True)
class Note:
    """What is said beside the answer: a new plan, what the turn leaves unsettled, another way of working, what was
    wrong with an answer, or what a sub-agent says (its name is `agent`)."""

    turn_id: str
    seq: int
    about: Literal["plan", "risk", "permission", "verification", "agent"]
    text: str
    agent: str = ""
    depth: int = 0


Item: TypeAlias = Said | Passage | ToolCard | Note


@dataclass(slots=True)
class Transcript:
    """What is on the screen: `items` in order, the questions that wait for a person, and where the turn stands.

    `waiting` says what the turn waits for while the engine makes its model ready, `plan` is the newest plan of the
    task, `todos` its list of what is to do, `doubts` are what its agent does not know or takes for granted, by id.
    """

    items: list[Item] = field(default_factory=list[Item])
    pending: dict[str, HitlRequest] = field(default_factory=dict[str, HitlRequest])
    seq: int = 0
    turn_id: str | None = None
    phase: Phase | None = None
    stop_reason: str | None = None
    waiting: str = ""
    plan: Plan | None = None
    todos: tuple[TodoItem, ...] = ()
    doubts: dict[str, Uncertainty] = field(default_factory=dict[str, Uncertainty])
    error: ErrorEvent | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    agents: dict[str, str] = field(default_factory=dict[str, str])
    """The names of its sub-agents, by their turns."""
    _nested: dict[tuple[str, str], ToolCard] = field(default_factory=dict[tuple[str, str], ToolCard])

    def apply(self, event: Event) -> None:
        if isinstance(event, SubagentLifecycle):
            self.agents[event.child_turn_id] = event.agent
        if event.depth:
            self._shown(event)
            return
        self.seq = max(self.seq, event.seq)
        self.waiting = event.text if isinstance(event, ModelProgress) else ""
        match event:
            case TextDelta():
                self._passage(event, thinking=False).pieces.append((event.seq, event.text))
            case ThinkingDelta():
                self._passage(event, thinking=True).pieces.append((event.seq, event.text))
            case ContentBlockStart():
                self._begin(event)
            case ContentBlockStop():
                self._finish(event)
            case ToolCallIssued() | ToolProgress() | ToolResult():
                self._tool(event)
            case HitlRequest() | HitlResolved():
                self._human(event)
            case Recovery():
                self._discard(event)
            case UserMessage():
                self._heard(event)
            case ThreadLifecycle():
                self._lifecycle(event)
            case PlanUpdate():
                self._planned(event)
            case TodoUpdate():
                self.todos = event.todos
            case Uncertainty():
                self.doubts[event.item_id] = event
            case RiskSummary():
                self.items.append(Note(event.turn_id or "", event.seq, "risk", event.text))
            case PermissionSuggestion():
                self.items.append(Note(event.turn_id or "", event.seq, "permission", event.message))
            case Verification():
                self._verified(event)
            case ErrorEvent():
                self.error = event
            case Usage():
                self.input_tokens += event.input_tokens
                self.output_tokens += event.output_tokens
                self.cost_usd += event.cost_usd or 0.0
            case _:
                pass

    def extend(self, events: Iterable[Event]) -> "Transcript":
        for event in events:
            self.apply(event)
        return self

    @property
    def running(self) -> bool:
        return self.phase is not None and not self.phase.final

    @property
    def cards(self) -> list[ToolCard]:
        return [item for item in self.items if isinstance(item, ToolCard) and not item.depth]

    def _shown(self, event: Event) -> None:
        """What is shown of a sub-agent: its calls once they are over, and what it says."""
        self.seq, turn_id = max(self.seq, event.seq), event.turn_id or ""
        agent = self.agents.get(turn_id, "sub-agent")
        match event:
            case HitlRequest() | HitlResolved():
                self._human(event)
            case ToolCallIssued():
                self._nested[turn_id, event.tool_call_id] = ToolCard(
                    self.turn_id or "", event.seq, -1, -1, event.tool, event.tool_call_id, event.input
                )
            case ToolResult():
                card = self._nested.pop((turn_id, event.tool_call_id), None) or ToolCard(
                    self.turn_id or "", event.seq, -1, -1, event.tool, event.tool_call_id
                )
                card.agent, card.depth = agent, event.depth
                self._over(card, event)
                self._beside(card)
            case ContentBlockStop(block=TextBlock(text=text)):
                self._beside(Note(self.turn_id or "", event.seq, "agent", text, agent, event.depth))
            case _:
                pass

    def _beside(self, item: Item) -> None:
        """Put something before the calls that are still under way, so that it need not wait for them."""
        at = len(self.items)
        while at and isinstance(card := self.items[at - 1], ToolCard) and card.status not in ("done", "failed"):
            at -= 1
        self.items.insert(at, item)

    def text(self, turn_id: str | None = None) -> str:
        """Everything the model said in a turn (None: in all of them), as it was said."""
        return "".join(item.text for item in self._passages(turn_id))

    def answer(self, turn_id: str | None = None) -> str:
        """What a turn (None: the newest) ends with: the text after its last tool call, or all of it."""
        turn_id = turn_id or self.turn_id
        last_call = max((card.seq for card in self.cards if card.turn_id == turn_id), default=0)
        tail = "".join(item.text for item in self._passages(turn_id) if item.seq > last_call)
        return tail or self.text(turn_id)

    def _passages(self, turn_id: str | None) -> Iterator[Passage]:
        for item in self.items:
            if isinstance(item, Passage) and not item.thinking and turn_id in (None, item.turn_id):
                yield item

    def _block(self, event: ContentBlockStart | ContentBlockStop | TextDelta | ThinkingDelta) -> Item | None:
        """The open block this event belongs to; a finished one is another answer's."""
        for item in reversed(self.items):
            if item.turn_id != event.turn_id:
                return None
            if isinstance(item, Said | Note) or (item.step, item.index) != (event.step, event.block_index):
                continue
            return None if isinstance(item, Passage) and item.done else item
        return None

    def _passage(self, event: TextDelta | ThinkingDelta | ContentBlockStart, *, thinking: bool) -> Passage:
        found = self._block(event)
        if isinstance(found, Passage):
            return found
        passage = Passage(event.turn_id or "", event.seq, event.step, event.block_index, thinking)
        self.items.append(passage)
        return passage

    def _begin(self, event: ContentBlockStart) -> None:
        if event.block_type != "tool_use":
            self._passage(event, thinking=event.block_type == "thinking")
            return
        self._card(event, event.tool or "", event.tool_call_id or "", event.step, event.block_index)

    def _finish(self, event: ContentBlockStop) -> None:
        match event.block:
            case TextBlock(text=text) | ThinkingBlock(text=text):
                thinking = isinstance(event.block, ThinkingBlock)
                found = self._block(event)
                if not isinstance(found, Passage):
                    found = Passage(event.turn_id or "", event.seq, event.step, event.block_index, thinking)
                    self.items.append(found)
                found.done = True
                if found.text != text:
                    found.pieces = [(event.seq, text)]
            case ToolUseBlock() as block:
                card = self._card(event, block.name, block.id, event.step, event.block_index)
                card.tool, card.input = block.name, block.input

    def _card(self, event: Event, tool: str, call_id: str, step: int, index: int) -> ToolCard:
        for item in reversed(self.items):
            if not isinstance(item, ToolCard) or item.depth:
                continue
            if item.call_id == call_id and item.turn_id == event.turn_id:
                return item
        card = ToolCard(event.turn_id or "", event.seq, step, index, tool, call_id)
        self.items.append(card)
        return card

    def _tool(self, event: ToolCallIssued | ToolProgress | ToolResult) -> None:
        step = 0 if isinstance(event, ToolProgress) else event.step
        card = self._card(event, event.tool, event.tool_call_id, step, -1)
        match event:
            case ToolCallIssued():
                card.input, card.status = event.input, "running"
            case ToolProgress():
                card.progress += event.text
            case ToolResult():
                self._over(card, event)

    @staticmethod
    def _over(card: ToolCard, event: ToolResult) -> None:
        card.output, card.error, card.duration_ms = event.output, event.error, event.duration_ms
        card.status = "done" if event.error is None else "failed"

    def _human(self, event: HitlRequest | HitlResolved) -> None:
        if isinstance(event, HitlResolved):
            request = self.pending.pop(event.request_id, None)
            call_id, status = request and request.tool_call_id, "written"
        else:
            self.pending[event.request_id] = event
            call_id, status = event.tool_call_id, "waiting"
        for card in self.cards:
            if card.call_id == call_id and card.status in ("written", "waiting"):
                card.status = status

    def _discard(self, event: Recovery) -> None:
        """Take back what was streamed from there on; a call that was issued has happened and stays."""
        first = event.discarded_from_seq
        kept: list[Item] = []
        for item in self.items:
            if isinstance(item, Said | Note) or item.turn_id != event.turn_id:
                kept.append(item)
            elif isinstance(item, ToolCard):
                if item.seq < first or item.status != "written":
                    kept.append(item)
            elif item.seq < first:
                item.pieces = [piece for piece in item.pieces if piece[0] < first]
                kept.append(item)
        self.items = kept

    def _planned(self, event: PlanUpdate) -> None:
        """A plan whose steps are others than before is worth showing; one that only moves on is not."""
        before, self.plan = self.plan, Plan(goal=event.goal, steps=event.steps, revision=event.revision)
        if before is None or (before.goal, before.revision) != (event.goal, event.revision):
            steps = "\n".join(f"- {step.id}: {step.text}" for step in event.steps if step.status != "skipped")
            text = f"Plan: {event.goal}\n{steps}"
            self.items.append(Note(event.turn_id or "", event.seq, "plan", text))

    def _verified(self, event: Verification) -> None:
        """An answer that is taken back or corrected is worth a word; one that got a note has it in itself."""
        titles = {
            "repair": "The answer did not hold and is written again:",
            "correct": "An earlier answer was wrong:",
        }
        title = titles.get(event.action)
        if title is not None:
            text = "\n".join((title, *(f"- {issue}" for issue in event.issues)))
            self.items.append(Note(event.turn_id or "", event.seq, "verification", text))

    def _heard(self, event: UserMessage) -> None:
        if event.origin != "engine":
            self.items.append(Said(event.turn_id or "", event.seq, event.message_id, text_of(event.content)))

    def _lifecycle(self, event: ThreadLifecycle) -> None:
        self.turn_id, self.phase, self.stop_reason = event.turn_id, event.phase, event.stop_reason
        if event.phase is Phase.STARTED:
            self.error = None
        if event.phase.final:
            self.pending = {
                key: ask for key, ask in self.pending.items() if ask.turn_id not in (None, event.turn_id)
            }
            for item in self.items:
                if isinstance(item, Passage):
                    item.done = True
