"""The state of a turn: content (messages) and control (counters, transition) kept apart.

`TurnState` is only ever computed by folding the turn's events (`engine_core.fold`): the running loop, a restart, a
fork and a replay all see the same state because they use the same function on the same events.
"""

from enum import StrEnum
from typing import Any, Literal

import msgspec

from aster.contracts.agents import Child, Parent, Profile
from aster.contracts.blocks import AssistantBlock, MediaBlock, ToolResultBlock
from aster.contracts.budgets import BudgetCase
from aster.contracts.events.judgement import Resolution, Verdict, VerificationAction
from aster.contracts.events.lifecycle import TransitionReason
from aster.contracts.events.media import MediaNotice
from aster.contracts.events.plan import Plan, TodoItem
from aster.contracts.llm import TokenUsage, ToolChoice
from aster.contracts.messages import Message
from aster.contracts.model import Contract
from aster.contracts.permissions import Behavior, PermissionMode
from aster.contracts.projects import AdvanceOf
from aster.contracts.replay import MemorySet, Unrecorded
from aster.contracts.tools import Effect, OutcomeClass, ToolCall, ToolDef


class TurnStatus(StrEnum):
    RUNNING = "running"
    SUSPENDED = "suspended"
    COMPLETED = "completed"
    ERRORED = "errored"
    CANCELLED = "cancelled"

    @property
    def ended(self) -> bool:
        return self in (TurnStatus.COMPLETED, TurnStatus.ERRORED, TurnStatus.CANCELLED)


class Transition(Contract):
    """Why the loop goes round again."""

    reason: TransitionReason
    attempt: int = 1


class TurnOptions(Contract):
    """How a client wants the model asked; what is left out is the engine's to choose. `tool_choice` holds for the
    first model call after the client said so, unless it is that no tool be called."""

    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    presence_penalty: float | None = None
    stop: tuple[str, ...] = ()
    tool_choice: ToolChoice | None = None
    output_schema: dict[str, Any] | None = None


NO_OPTIONS = TurnOptions()


class Replay(Contract):
    """A turn that runs again from its recording: every call gets the outcome that is on record, and nothing is run.

    `task_id` and `turn_id` are the recorded turn, `home_task_id` is whose workspace it told of; its first `kept` model
    calls, up to `from_seq`, are taken as they were. A call that is not on record is refused, or ends the replay
    (`unrecorded`). `soul`: it is told who it is for this person. One in the `background` stands back behind people;
    `max_usd` is the most it may spend, `paid_usd` what had been paid for the part that was taken over.
    """

    task_id: str
    turn_id: str
    home_task_id: str
    kept: int = 0
    from_seq: int = 0
    memory: MemorySet = "recorded"
    soul: bool = True
    unrecorded: Unrecorded = "refuse"
    background: bool = False
    max_usd: float | None = None
    paid_usd: float = 0.0


class TurnRequest(Contract):
    """What the client asked for, beyond the message itself. `unattended`: nobody is there to be asked.

    `instructions` are the client's own for this turn, `tools` are run by the client, `own_tools` says whether the
    engine's are offered beside them. `echo` is what a door says again when it is asked about the turn, `place`
    the fingerprint of the conversation under which its client finds the turn again. With a
    `method` the turn is one call that the client makes by that name, and no model is asked. `agent` is who answers,
    unless it is the engine's usual agent; `parent` is whom it works for, if that is another agent, and `budget` what a
    person has allowed that one to spend beyond its budgets. `woken` counts the turns in a row, this one too, that no
    person asked for: the end of work in the background began them. With a `replay` it only repeats a recorded
    turn; with an `advance` it works on an item of a project.
    """

    direct: bool = False
    super_thinking: bool = False
    model: str | None = None
    options: TurnOptions = NO_OPTIONS
    permission_mode: PermissionMode = "default"
    unattended: bool = False
    instructions: str = ""
    tools: tuple[ToolDef, ...] = ()
    own_tools: bool = True
    echo: dict[str, Any] = {}
    place: str = ""
    method: str = ""
    agent: Profile | None = None
    parent: Parent | None = None
    budget: tuple[BudgetCase, ...] = ()
    woken: int = 0
    replay: Replay | None = None
    advance: AdvanceOf | None = None

    @property
    def isolated(self) -> bool:
        """Whether its agent is shut in, with nothing that is the user's."""
        return self.agent is not None and bool(self.agent.cell)

    @property
    def behind(self) -> bool:
        """Whether nobody waits for it: it stands back behind people."""
        return self.isolated or (self.replay is not None and self.replay.background)


class Answer(Contract):
    """What a person said to a request."""

    text: str
    approved: bool | None = None
    feedback: str | None = None
    content: tuple[MediaBlock, ...] = ()


class Question(Contract):
    """A request to a person that belongs to a call; `answer` is None while it is open.

    `attempt` is how often the call had been issued when it was asked: an answer counts for that attempt alone.
    `about` are the uncertainties it would settle: the call is held back for them. `pin` is how the tool described
    itself when it was asked. Of a server's own question, `asked` is what it wants to know and `state` what it needs
    back with the answer.
    """

    request_id: str
    kind: str
    attempt: int = 0
    answer: Answer | None = None
    about: tuple[str, ...] = ()
    pin: str | None = None
    asked: dict[str, Any] | None = None
    state: dict[str, Any] | None = None


class BudgetQuestion(Contract):
    """A request to a person about a budget; it belongs to the turn, not to a call.

    An answer that neither approves nor refuses says that the budget has changed: look again.
    """

    request_id: str
    case: BudgetCase
    answer: Answer | None = None


class Tally(Contract):
    """What the same call came to, how often in a row; `error` is the beginning of what it failed with."""

    result: str
    count: int
    error: str | None = None


class Ledger(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What the calls of a turn came to, by fingerprint; failures in a row, and refusals to repeat one.

    `opening` are the words its newest step opens with, `openings` how many steps in a row have opened alike, `deeds`
    what was changed meanwhile.
    """

    tallies: dict[str, Tally] = {}
    strikes: int = 0
    transient: int = 0
    refusals: int = 0
    opening: tuple[str, ...] = ()
    openings: int = 0
    deeds: tuple[str, ...] = ()


class Doubt(Contract):
    """Something the agent does not know or takes for granted, as it stands."""

    item: Literal["unknown", "assumption"]
    text: str
    impact: int
    confidence: float | None = None
    resolution: Resolution | None = None
    resolved: bool = False


class ToolRun(Contract):
    """What a tool call of the turn came to. `lasting`: what it did cannot be had twice without harm."""

    call_id: str
    tool: str
    error: str | None = None
    exit_code: int | None = None
    lasting: bool = False


class Judgement(Contract):
    """What an answer was found to be worth, when it was held against what the tools had said.

    `message_id` is the message that asked for the turn's repair, `draft` the answer that was taken back for it, until
    there is another.
    """

    step: int
    verdict: Verdict
    confidence: float
    action: VerificationAction
    issues: tuple[str, ...] = ()
    message_id: str | None = None
    draft: str | None = None


class CallState(msgspec.Struct, kw_only=True, omit_defaults=True):
    """Where one tool call of the current step stands."""

    call: ToolCall
    invalid: str | None = None
    hint: str | None = None
    issued: int = 0
    effect: Effect | None = None
    failure: OutcomeClass | None = None
    hooked: bool = False
    hook_permission: Behavior | None = None
    hook_refused: str | None = None
    questions: list[Question] = []
    child: Child | None = None
    result: ToolResultBlock | None = None

    @property
    def open_question(self) -> Question | None:
        return next((q for q in self.questions if q.answer is None), None)

    def asked(self, kind: str) -> Question | None:
        """The newest question of this kind about the present attempt that has an answer."""
        matching = (q for q in reversed(self.questions) if q.kind == kind and q.attempt == self.issued)
        return next((question for question in matching if question.answer is not None), None)

    def answered(self, kind: str) -> Answer | None:
        """The newest answer to a question of this kind about the present attempt."""
        question = self.asked(kind)
        return None if question is None else question.answer


class TurnState(msgspec.Struct, kw_only=True, omit_defaults=True):
    """Everything the loop knows of a turn, as of `seq`. Written by the fold alone.

    `boundary_seq` is the last record that belongs to no unfinished model call: what the turn streamed after it
    can be discarded and asked again. `step_floor` is that boundary as it was before the newest finished
    call. `settled` says that it is decided what the newest finished call means. `fallback_model` is the model the
    turn goes on with, `endpoint` who answered its newest step, `lasting_effects` that it ran a tool whose effect
    cannot be had twice without harm. `recalled` are the memories that entered its context, `remembered` those it
    wrote. `plan_calls` counts the calls of the planner, `plan_failures` the failed tool calls since the plan was last
    thought about.
    """

    turn_id: str
    status: TurnStatus = TurnStatus.RUNNING
    seq: int = 0
    first_seq: int = 0
    segment: int = 0
    request: TurnRequest = TurnRequest()
    follows_turn_id: str | None = None
    follows_messages: int | None = None

    messages: list[Message] = []
    calls: dict[str, CallState] = {}

    step: int = 0
    step_blocks: list[AssistantBlock] = []
    boundary_seq: int = 0
    step_floor: int = 0
    settled: bool = False
    transition: Transition | None = None
    transitions: dict[str, int] = {}
    stop_reason: str | None = None
    usage: TokenUsage = TokenUsage()
    cost_usd: float = 0.0
    model_calls: int = 0
    max_tokens: int | None = None
    error: str | None = None
    fallback_model: str | None = None
    endpoint: str | None = None
    lasting_effects: bool = False
    budget_questions: list[BudgetQuestion] = []
    budget_warned: dict[str, float] = {}
    budget_granted: tuple[BudgetCase, ...] = ()
    """What a person has allowed its sub-agents to spend, which is spent from its budgets too."""
    ledger: Ledger = msgspec.field(default_factory=Ledger)
    todos: tuple[TodoItem, ...] = ()
    todo_rounds: int = 0
    plan: Plan | None = None
    plan_rounds: int = 0
    plan_calls: int = 0
    plan_failures: int = 0
    doubts: dict[str, Doubt] = {}
    summarised: bool = False
    runs: list[ToolRun] = []
    judged: Judgement | None = None
    repaired_at: int | None = None
    """How many calls had run when an answer was taken back."""
    session_hooked: bool = False
    prompted: bool = False
    hook_refused: str | None = None
    """Why a hook refused the message."""
    hook_stopped: bool = False
    denials: int = 0
    recalled: tuple[str, ...] = ()
    remembered: tuple[str, ...] = ()
    compaction_id: str | None = None
    """What stands for everything before the turn and its first `covered` messages."""
    covered: int = 0
    compaction_wanted: str | None = None
    """The conversation is to be compacted; what matters most in it, if that was said."""
    said: dict[str, int] = {}
    """The messages that a person wrote, by id, each with its seq once that is known."""
    media_noted: bool = False
    """It was said which of the message's media the model that answers takes none of."""
    media_withheld: bool = False
    """What was attached before this turn was refused by the provider and is left out."""
    media_stripped: list[MediaNotice] = []
    """What of this turn's own media was refused by the provider."""
    spawned: int = 0
    """How many sub-agents it began."""
    wished_at: int = 0
    """How many model calls it had made when its client last said what it wants."""
    gates: list[Question] = []
    """What a person was asked at the end of an answer, before it counts."""

    @property
    def last_words(self) -> bool:
        """It was told twice that it is going in circles: no tool runs any more, only an answer counts."""
        return self.transitions.get(TransitionReason.LOOP_GUARD, 0) > 1

    @property
    def waits(self) -> bool:
        """It has asked a person or begun a sub-agent, and does not know of an answer."""
        asked = any(call.open_question for call in self.unresolved)
        begun = any(call.child is not None and call.child.status == "running" for call in self.unresolved)
        questions = (*self.budget_questions, *self.gates)
        return asked or begun or any(question.answer is None for question in questions)

    @property
    def unresolved(self) -> list[CallState]:
        """Calls of the current step that have no result yet, in call order."""
        return [state for state in self.calls.values() if state.result is None]


class ChannelStateSnapshot(Contract):
    """A fold kept so that the next one need not start at the first event."""

    task_id: str
    turn_id: str
    seq: int
    snapshot_json: dict[str, Any]
    expires_at: str
