"""Request bodies: what a client may say, checked field by field, and what the engine is told.

An unknown field is no error (a newer client may send it) but is never silent: the answer names it in
`X-Aster-Warning`.
"""

from collections.abc import Iterator
from typing import Annotated, Any, Final, Self, TypeAlias, cast
from urllib.parse import unquote

from fastapi import Path
from pydantic import AfterValidator, BeforeValidator, Field, StrictBool, StrictInt, model_validator
from pydantic_core import PydanticCustomError

from aster.contracts.permissions import GrantScope, PermissionMode
from aster.contracts.tools import ToolDef
from aster.engine_core.orders import HitlReply, OnBusy, Order
from aster.server.media import JsonObject, Media, Part, Text

WARNING_HEADER: Final = "X-Aster-Warning"
TASK_ID_CHARS: Final = 256
MESSAGE_CHARS: Final = 4_000_000
INSTRUCTION_CHARS: Final = 200_000
ANSWER_CHARS: Final = 1_000_000
MEDIA_BLOCKS: Final = 100
ID_CHARS: Final = 128
LARGEST: Final = 2**53 - 1
LONGEST_GRANT_SECONDS: Final = 10 * 365 * 86_400
"""The largest number every JSON reader gets right, and far beyond any seq or time."""
SUBAGENTS: Final = "Show what sub-agents do (events with a `depth`); what they ask a person is always shown."

_WARNED_FIELDS: Final = 20
_WARNED_CHARS: Final = 64


def printable(value: str) -> str:
    if not value.isprintable() or not value.strip():
        raise PydanticCustomError("printable", "has to be printable text without control characters")
    return value


TaskId: TypeAlias = Annotated[
    Text,
    Field(
        min_length=1, max_length=TASK_ID_CHARS, description="The task: any printable text of up to 256 characters."
    ),
    AfterValidator(printable),
]
PathTaskId: TypeAlias = Annotated[
    str,
    Path(description="The task's id, percent-encoded (also its slashes)."),
    BeforeValidator(unquote),
    AfterValidator(printable),
]
OtherId: TypeAlias = Annotated[Text, Field(min_length=1, max_length=ID_CHARS), AfterValidator(printable)]
MediaList: TypeAlias = Annotated[list[Media], Field(max_length=MEDIA_BLOCKS)]


class ToolPart(Part):
    """A tool of the client."""

    name: Text = Field(description="Letters, digits, `_` and `-`; not the name of a tool of the engine.")
    description: Text = Field("", description="What it does, for the model.")
    input_schema: JsonObject = Field(
        default_factory=lambda: {"type": "object", "properties": {}}, description="JSON Schema of its arguments."
    )

    def definition(self) -> ToolDef:
        return ToolDef(name=self.name, description=self.description, input_schema=self.input_schema)


class ExecuteBody(Part):
    """One message for one task."""

    message: Text = Field("", max_length=MESSAGE_CHARS, description="What the user says. May be empty with media.")
    task_id: TaskId
    media: MediaList = Field(
        default_factory=list[Media], description="Images, documents, audio, video and further text."
    )
    direct: StrictBool = Field(False, description="Skip planning and run the loop directly.")
    super_thinking: StrictBool = Field(False, description="Let the model think at length first.")
    model: OtherId | None = Field(
        None, description="The model to ask in place of the usual one; one of `LLM_ALLOWED_MODELS`."
    )
    edit_message_id: OtherId | None = Field(
        None,
        description="Put this message in the place of an earlier one; what followed that one no longer counts.",
    )
    retry_message_id: OtherId | None = Field(
        None, description="Run an earlier message again as it was; `message` may be left out."
    )
    on_busy: OnBusy = Field(
        OnBusy.REJECT,
        description="If a turn of the task runs: `reject` (409), `queue` (run after it), `steer` (hand it over at"
        " the next safe point) or `interrupt` (cancel it, then run).",
    )
    permission_mode: PermissionMode | None = Field(
        None,
        description="How careful the turn is: `default` asks before what could destroy something, `plan` changes"
        " nothing, `auto` asks before every change, `bypass` (if the operator allows it) never asks. A message"
        " that steers leaves the mode of the turn as it is. Left out, it is the engine's usual one.",
    )
    agent: OtherId | None = Field(
        None, description="Who answers this message, by name (`GET /agents`); left out, the engine's usual agent."
    )
    unattended: StrictBool = Field(
        False,
        description="Nobody is there to answer: a call that needs a person waits or is refused, as the operator"
        " has set (`UNATTENDED_POLICY`).",
    )
    subagents: StrictBool = Field(True, description=SUBAGENTS)

    instructions: Text = Field(
        "",
        max_length=INSTRUCTION_CHARS,
        description="What your application wants of the agent in this turn. It ranks below the operator's word and"
        " allows nothing.",
    )
    tools: list[ToolPart] = Field(
        default_factory=list[ToolPart],
        description="Tools that your side runs. A call of one suspends the turn with a `hitl_request` of kind"
        " `client_tool`; answer it with the result (POST /hitl/respond).",
    )

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if self.edit_message_id and self.retry_message_id:
            raise PydanticCustomError("exclusive", "excludes retry_message_id", {"field": "edit_message_id"})
        if not self.message.strip() and not self.media and not self.retry_message_id:
            raise PydanticCustomError("empty", "is empty, and there is no media", {"field": "message"})
        return self

    def order(self, request_id: str, turn_id: str | None = None) -> Order:
        return Order(
            task_id=self.task_id,
            message=self.message,
            turn_id=turn_id,
            media=tuple(part.block() for part in self.media),
            direct=self.direct,
            super_thinking=self.super_thinking,
            edit_message_id=self.edit_message_id,
            retry_message_id=self.retry_message_id,
            on_busy=self.on_busy,
            request_id=request_id,
            model=self.model,
            permission_mode=self.permission_mode,
            unattended=self.unattended,
            agent=self.agent,
            instructions=self.instructions,
            tools=tuple(tool.definition() for tool in self.tools),
        )


class CancelBody(Part):
    task_id: TaskId
    clear_inbox: StrictBool = Field(False, description="Also drop the messages that wait for their turn.")


class RespondBody(Part):
    """A person's answer, to a request or to the oldest open one of a task."""

    answer: Text = Field(
        min_length=1,
        max_length=ANSWER_CHARS,
        description="`yes`, `no` or `always` to a permission, `yes` or `no` to a budget, free text to a question.",
    )
    scope: GrantScope | None = Field(
        None, description="With `always`: how far it reaches. Left out, it is for this task alone."
    )
    expires_in_seconds: int | None = Field(
        None,
        ge=1,
        le=LONGEST_GRANT_SECONDS,
        description="With `always`: how long it holds. Left out, until revoked.",
    )
    request_id: OtherId | None = None
    task_id: TaskId | None = None
    feedback: Text | None = Field(None, max_length=ANSWER_CHARS, description="A comment for the agent.")
    content_blocks: MediaList = Field(
        default_factory=list[Media], description="Images and documents with the answer."
    )

    @model_validator(mode="after")
    def _addressed(self) -> Self:
        if self.request_id is None and self.task_id is None:
            raise PydanticCustomError("addressed", "is missing, and so is task_id", {"field": "request_id"})
        return self

    def reply(self, resolved_by: str, *, operator: bool) -> HitlReply:
        return HitlReply(
            answer=self.answer,
            request_id=self.request_id,
            task_id=self.task_id,
            feedback=self.feedback,
            content_blocks=tuple(part.block() for part in self.content_blocks),
            resolved_by=resolved_by,
            operator=operator,
            scope=self.scope,
            expires_in_seconds=self.expires_in_seconds,
        )


class ForkBody(Part):
    seq: StrictInt = Field(
        ge=1, le=LARGEST, description="The last event of the original that the new task takes over."
    )
    task_id: TaskId | None = Field(None, description="The id of the new task; left out, one is made up.")


class UndoBody(Part):
    turn_id: OtherId | None = Field(None, description="Whose changes; left out, the newest turn that made any.")
    force: StrictBool = Field(False, description="Overwrite files that were changed since.")


class CompactBody(Part):
    focus: Annotated[str, Field(max_length=2000)] | None = Field(
        None, description="What the summary has to keep above all."
    )


class RenameBody(Part):
    title: Annotated[str, Field(min_length=1, max_length=200, description="What the task is listed as.")]


def warnings(body: Part) -> dict[str, str]:
    """The header that names the fields of a body nobody knows; no header when all are known."""
    unknown = [_header_safe(name) for name in _unknown(body)]
    if not unknown:
        return {}
    more = len(unknown) - _WARNED_FIELDS
    tail = f" and {more} more" if more > 0 else ""
    return {WARNING_HEADER: f"unknown fields ignored: {', '.join(unknown[:_WARNED_FIELDS])}{tail}"}


def _unknown(part: Part, prefix: str = "") -> Iterator[str]:
    yield from (f"{prefix}{name}" for name in part.model_extra or {})
    for name, value in part.__dict__.items():
        if value is None or type(value) is str:
            continue
        if isinstance(value, Part):
            yield from _unknown(value, f"{prefix}{name}.")
        elif isinstance(value, list):
            for index, item in enumerate(cast("list[Any]", value)):
                if isinstance(item, Part):
                    yield from _unknown(item, f"{prefix}{name}.{index}.")


def _header_safe(name: str) -> str:
    return "".join(c if c.isascii() and c.isprintable() and c != "," else "?" for c in name[:_WARNED_CHARS])
