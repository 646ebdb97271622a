"""The state of a turn: content (messages) and control (counters, transition) kept apart.

`TurnState` is only ever computed by folding the turn's events (`engine_core.fold`): the running loop, a restart, a
fork and a replay all see the same state because they use the same function on the same events.
"""

from enum import StrEnum
from typing import Any, Literal, TypeAlias

import msgspec

from aster.contracts.blocks import AssistantBlock, MediaBlock, ToolResultBlock
from aster.contracts.events.lifecycle import TransitionReason
from aster.contracts.events.plan import TodoItem
from aster.contracts.llm import TokenUsage
from aster.contracts.messages import Message
from aster.contracts.model import Contract
from aster.contracts.permissions import Behavior, PermissionMode
from aster.contracts.tools import Effect, OutcomeClass, ToolCall


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


class TurnRequest(Contract):
    """What the client asked for, beyond the message itself. `unattended`: nobody is there to be asked."""

    direct: bool = False
    super_thinking: bool = False
    model: str | None = None
    options: dict[str, Any] = {}
    permission_mode: PermissionMode = "default"
    unattended: bool = False


class Answer(Contract):
    """What a person said to a request."""

    text: str
    approved: bool | None = None
    feedback: str | None = None
    content: tuple[MediaBlock, ...] = ()


class Question(Contract):
    """A request to a person that belongs to a call; `answer` is None while it is open.

    `attempt` is how often the call had been issued when it was asked: an answer counts for that attempt alone.
    """

    request_id: str
    kind: str
    attempt: int = 0
    answer: Answer | None = None


BudgetScope: TypeAlias = Literal["user", "task", "turn"]
BudgetOwner: TypeAlias = Literal["operator", "user"]
BudgetRung: TypeAlias = Literal["ask", "exceeded"]


class BudgetCase(Contract):
    """Why a budget makes the turn ask a person: whose budget it is, where it stands, what a yes allows.

    `day` is the day a budget of scope `user` is for.
    """

    scope: BudgetScope
    owner: BudgetOwner
    rung: BudgetRung
    limit_usd: float
    spent_usd: float
    estimate_usd: float
    up_to_usd: float
    day: str | None = None


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
    """What the calls of a turn came to, by fingerprint; failures in a row, and refusals to repeat one."""

    tallies: dict[str, Tally] = {}
    strikes: int = 0
    transient: int = 0
    refusals: int = 0


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
    questions: list[Question] = []
    result: ToolResultBlock | None = None

    @property
    def open_question(self) -> Question | None:
        return next((q for q in self.questions if q.answer is None), None)

    def answered(self, kind: str) -> Answer | None:
        """The newest answer to a question of this kind about the present attempt."""
        matching = (q.answer for q in reversed(self.questions) if q.kind == kind and q.attempt == self.issued)
        return next((answer for answer in matching if answer is not None), None)


class TurnState(msgspec.Struct, kw_only=True, omit_defaults=True):
    """Everything the loop knows of a turn, as of `seq`. Written by the fold alone.

    `boundary_seq` is the last record that belongs to no unfinished model call: what the turn streamed after it
    can be discarded and asked again. `step_floor` is that boundary as it was before the newest finished
    call. `settled` says that it is decided what the newest finished call means. `fallback_model` is the model the
    turn goes on with, `endpoint` who answered its newest step, `lasting_effects` that it ran a tool whose effect
    cannot be had twice without harm. `recalled` are the memories that entered its context, `remembered` those it
    wrote.
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
    ledger: Ledger = msgspec.field(default_factory=Ledger)
    todos: tuple[TodoItem, ...] = ()
    todo_rounds: int = 0
    prompted: bool = False
    hook_stopped: bool = False
    denials: int = 0
    recalled: tuple[str, ...] = ()
    remembered: tuple[str, ...] = ()

    @property
    def last_words(self) -> bool:
        """It was told twice that it is going in circles: no tool runs any more, only an answer counts."""
        return self.transitions.get(TransitionReason.LOOP_GUARD, 0) > 1

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
