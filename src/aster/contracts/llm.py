"""What the engine asks of a model and what comes back while it answers.

Every provider is reduced to these types inside `herald`; no other room knows a provider's name or wire.
"""

from enum import StrEnum
from typing import Any, Literal, TypeAlias

from aster.contracts.blocks import AssistantBlock, BlockType
from aster.contracts.messages import Message
from aster.contracts.model import Contract
from aster.contracts.tools import ToolDef

ModelStage: TypeAlias = Literal["downloading", "verifying", "loading", "warming", "queued", "ready", "unavailable"]
"""Where a model that is run by the engine itself stands."""

ModelRole: TypeAlias = Literal["foreground", "worker", "coding", "critic"]
"""What a model is asked for: to answer a person, to work behind the scenes, to write code, to check."""


class ToolChoice(Contract):
    """What a model call may do about tools: call none, call one at least, or call this one (`name`)."""

    mode: Literal["none", "required", "named"]
    name: str | None = None


class StopReason(StrEnum):
    END_TURN = "end_turn"
    TOOL_USE = "tool_use"
    MAX_TOKENS = "max_tokens"
    STOP_SEQUENCE = "stop_sequence"
    PAUSE_TURN = "pause_turn"
    REFUSAL = "refusal"


class TokenUsage(Contract):
    """Tokens of one model call in four buckets; `input` excludes what was read from or written to a cache."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0

    @property
    def input_total(self) -> int:
        return self.input + self.cache_read + self.cache_write

    def plus(self, other: "TokenUsage") -> "TokenUsage":
        return TokenUsage(
            input=self.input + other.input,
            output=self.output + other.output,
            cache_read=self.cache_read + other.cache_read,
            cache_write=self.cache_write + other.cache_write,
        )


class ModelRequest(Contract):
    """One model call, complete. `cache_upto` is the number of leading messages worth a cache mark, `cache_before` how
    many of them the call before had; `cache_marks` says whether to place marks at all. The first `system_shared`
    characters of the instructions are the same in every conversation, `cache_key` is the same for all of this one.

    Calls of one `turn_id` stay with one endpoint while they can, after a restart with the `endpoint` that answered
    the turn's last step; a `firm` one is never given to another model. Nobody waits for a `background` one.
    """

    model: str
    system: str
    messages: tuple[Message, ...]
    tools: tuple[ToolDef, ...] = ()
    tool_choice: ToolChoice | None = None
    max_tokens: int = 4096
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    presence_penalty: float | None = None
    stop_sequences: tuple[str, ...] = ()
    thinking_budget: int | None = None
    output_schema: dict[str, Any] | None = None
    cache_upto: int = 0
    cache_before: int = 0
    cache_marks: bool = True
    cache_key: str | None = None
    system_shared: int = 0
    request_id: str | None = None
    turn_id: str | None = None
    firm: bool = False
    role: ModelRole = "foreground"
    background: bool = False
    endpoint: str | None = None


class BlockStarted(Contract, tag="block_started"):
    index: int
    block_type: BlockType
    tool_name: str | None = None
    tool_call_id: str | None = None


class TextPart(Contract, tag="text_part", gc=False):
    index: int
    text: str


class ThinkingPart(Contract, tag="thinking_part", gc=False):
    index: int
    text: str


class BlockFinished(Contract, tag="block_finished"):
    """A whole block; what was streamed of it before adds up to exactly this."""

    index: int
    block: AssistantBlock


class CallFinished(Contract, tag="call_finished"):
    """The last event of a call that was not cut off."""

    stop_reason: StopReason
    usage: TokenUsage
    model: str
    provider_id: str | None = None


class CallWaiting(Contract, tag="call_waiting"):
    """The model is not ready for the call yet; the bytes are those of its weights while they come."""

    stage: ModelStage
    text: str
    done_bytes: int | None = None
    total_bytes: int | None = None


StreamEvent: TypeAlias = BlockStarted | TextPart | ThinkingPart | BlockFinished | CallFinished | CallWaiting


class LLMResponse(Contract):
    """A finished model call, for callers that do not need the stream."""

    blocks: tuple[AssistantBlock, ...]
    stop_reason: StopReason
    usage: TokenUsage
    model: str
