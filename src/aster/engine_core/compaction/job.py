"""A job of compaction: from a conversation and how full its window is to what is shown instead, and why.

It is the one way for every trigger: on the way to a model call, after an overflow, and on request. It writes nothing:
whoever asked for it puts what it made onto the thread, all in one commit.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final

import msgspec

from aster.contracts.blocks import text_of
from aster.contracts.errors import EngineError
from aster.contracts.events.context import CompactionStrategy, CompactionTrigger
from aster.contracts.llm import LLMResponse, ModelRequest
from aster.contracts.messages import Message
from aster.engine_core.boundary import Boundary
from aster.engine_core.compaction import digest as digests
from aster.engine_core.compaction import summary
from aster.engine_core.compaction.ladder import Case, descend, parted, summarised
from aster.engine_core.compaction.levels import shortened
from aster.engine_core.compaction.micro import micro
from aster.engine_core.compaction.result_budget import budgeted, over
from aster.engine_core.compaction.summary import Split
from aster.engine_core.compaction.transcript import Archive, archived
from aster.engine_core.context.tokens import message_tokens, window_of
from aster.engine_core.services import Services
from aster.utility_directory.artifacts import Content

DEEPEST: Final = 4
WORTH: Final = 0.9
"""A summary has to make the prompt this much shorter, or it is not asked for."""
WORTH_A_REQUEST: Final = 0.95


@dataclass(frozen=True, slots=True)
class Job:
    """What is to be compacted. `frame` are the tokens beside the messages, `batch_chars` what results of one step may
    be together, `ratio` how many tokens the provider counts for one of ours. `consent` says what a summary has to
    mind, or raises; `ask` makes the call for one."""

    messages: tuple[Message, ...]
    active: frozenset[str]
    boundary: Boundary
    trigger: CompactionTrigger
    level: int
    frame: int
    target: int
    batch_chars: int
    ratio: float
    consent: Callable[[], Awaitable[list[str]]]
    ask: Callable[[ModelRequest], Awaitable[LLMResponse]]

    def weigh(self, message: Message) -> int:
        return message_tokens(self.boundary.messages((message,))[0])

    def weight(self, messages: "tuple[Message, ...] | list[Message]") -> int:
        return self.frame + sum(map(self.weigh, messages))

    def counted(self, messages: "tuple[Message, ...] | list[Message]") -> int:
        """The tokens of a prompt of these messages as the provider would count them."""
        return round(self.weight(messages) * self.ratio)


@dataclass(slots=True)
class Made:
    """What a job came to. Without `messages` it failed for this `reason`, or was `refused`."""

    before: int
    after: int
    strategies: tuple[CompactionStrategy, ...]
    messages: list[Message] = field(default_factory=list[Message])
    contents: list[Content] = field(default_factory=list[Content])
    model: str | None = None
    reason: str | None = None
    refused: bool = False

    @property
    def ok(self) -> bool:
        return bool(self.messages)


async def done(job: Job, services: Services) -> Made | None:
    """Compact a conversation; None when it is not worth it yet."""
    messages, moved = list(job.messages), list[Content]()
    if over(messages, job.batch_chars):
        messages, moved = budgeted(messages, job.batch_chars)
    trimmed = _trimmed(job, messages, moved) if moved else None
    if job.trigger == "proactive" and (
        job.level == 0 or (trimmed and job.weight(messages) <= job.frame + job.target)
    ):
        return trimmed
    archive = archived(messages, digests.found(messages))
    case = Case(archive.messages, archive.digest, job.active, job.target, job.weigh, job.boundary)
    first: tuple[CompactionStrategy, ...] = ("tool_result_budget",) if moved else ()
    if job.trigger != "requested":
        taken = descend(case, min(job.level, 3))
        if taken.fits and taken.strategies:
            await job.consent()
            return _made(job, taken.messages, (*first, *taken.strategies), [*archive.contents, *moved])
    if job.level < DEEPEST:
        return trimmed
    made = await _summarised(job, services, case, archive)
    if made is None or not made.ok:
        return trimmed or made
    made.strategies, made.contents = (*first, *made.strategies), [*made.contents, *moved]
    return made


def _trimmed(job: Job, messages: list[Message], moved: list[Content]) -> Made:
    return _made(job, messages, ("tool_result_budget",), moved)


async def _summarised(job: Job, services: Services, case: Case, archive: Archive) -> Made | None:
    """The conversation with a summary; None when nobody is in need of one that would free too little."""
    parts = parted(case)
    account = digests.account(parts.gone)
    draft = summarised(case, parts, account)
    least = WORTH_A_REQUEST if job.trigger == "requested" else WORTH
    if not parts.gone or job.weight(draft) >= least * job.weight(job.messages):
        too_little = "What could be summarised is too little to make room."
        return None if job.trigger == "proactive" else _failed(job, too_little)
    wishes = await job.consent()
    text, model = await _text(job, services, case, parts, wishes)
    if model is None:
        before = case.digest.summary[: digests.SUMMARY_CHARS - len(account) - 1]
        text = f"{before}\n{account}".strip()
    messages = summarised(case, parts, text)
    spared = frozenset(job.active | {messages[0].id or ""})
    if not case.fits(messages):
        messages = shortened(micro(messages), 3, spared)
    made = _made(job, messages, ("summary",), archive.contents)
    made.model = model
    return made


async def _text(
    job: Job, services: Services, case: Case, parts: Split, wishes: list[str]
) -> tuple[str, str | None]:
    """A model's summary and who wrote it; without one, nothing: the turn goes on with what the engine knows."""
    short = micro(parts.gone)
    for level in (1, 2, 3):
        short = shortened(short, level, frozenset())
    blank = summary.blank(services.settings)
    window = window_of(services.herald.assigned(blank).model, services.settings)
    asked = summary.asked(parts.gone, short, case.digest.summary, wishes, window)
    try:
        answer = await job.ask(msgspec.structs.replace(blank, messages=(asked,)))
    except EngineError as error:
        services.raven.note("compaction", "warning", f"A summary could not be had: {error.message}")
        return "", None
    text = services.secrets.clean(text_of(answer.blocks), "model").strip()
    return (text, answer.model) if text else ("", None)


def _made(
    job: Job, messages: list[Message], strategies: tuple[CompactionStrategy, ...], contents: list[Content]
) -> Made:
    before, after = job.counted(job.messages), job.counted(messages)
    if after >= before:
        return _failed(job, "What was moved out made no room.", strategies)
    return Made(before, after, strategies, messages, contents)


def _failed(job: Job, reason: str, strategies: tuple[CompactionStrategy, ...] = ("summary",)) -> Made:
    tokens = job.counted(job.messages)
    return Made(tokens, tokens, strategies, reason=reason)


def refused(job: Job, reason: str) -> Made:
    """What a job comes to that a hook forbids."""
    made = _failed(job, reason)
    made.refused = True
    return made
