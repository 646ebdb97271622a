"""What a client of `/v1/chat/completions` sends, and what the engine makes of it.

Every parameter is honoured, or refused with a sentence, or named as without effect in docs/doors.md; none is
misunderstood in silence.
"""

import json
from typing import Annotated, Any, Final, Literal, TypeAlias, cast

from pydantic import Field, StrictBool

from aster.contracts.blocks import MediaBlock, TextBlock, ToolUseBlock
from aster.contracts.llm import ToolChoice
from aster.contracts.tools import ToolDef
from aster.contracts.turn import TurnOptions
from aster.engine_core.client_tools import unfit
from aster.server.bodies import MESSAGE_CHARS
from aster.server.doors import media_parts
from aster.server.doors.lines import MOST_LINES, Line
from aster.server.media import Part, Text

ANY_JSON: Final = "Answer with one JSON object and nothing else: no words around it, no code fence."
_NO_SCHEMA: Final[dict[str, Any]] = {"type": "object", "properties": {}}

Json: TypeAlias = dict[str, Any]


class TextItem(Part):
    type: Literal["text"]
    text: Text = Field(max_length=MESSAGE_CHARS)


class ImageAddress(Part):
    url: Text


class ImageItem(Part):
    type: Literal["image_url"]
    image_url: ImageAddress


class Sound(Part):
    data: Text
    format: Text


class SoundItem(Part):
    type: Literal["input_audio"]
    input_audio: Sound


class FileData(Part):
    file_data: Text | None = None
    filename: Text | None = Field(None, max_length=512)
    file_id: Text | None = None


class FileItem(Part):
    type: Literal["file"]
    file: FileData


class RefusalItem(Part):
    type: Literal["refusal"]
    refusal: Text


Item: TypeAlias = Annotated[TextItem | ImageItem | SoundItem | FileItem | RefusalItem, Field(discriminator="type")]
Content: TypeAlias = Annotated[Text, Field(max_length=MESSAGE_CHARS)] | list[Item]


class CalledFunction(Part):
    name: Text
    arguments: Text = ""


class Called(Part):
    id: Text
    type: Text = "function"
    function: CalledFunction


class ChatMessage(Part):
    """One message of the conversation."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: Content | None = None
    name: Text | None = None
    tool_calls: list[Called] | None = None
    tool_call_id: Text | None = None
    refusal: Text | None = None


class FunctionTool(Part):
    name: Text
    description: Text | None = None
    parameters: Json | None = None
    strict: StrictBool | None = None


class ChatTool(Part):
    type: Text
    function: FunctionTool | None = None


class NamedFunction(Part):
    name: Text


class NamedChoice(Part):
    type: Literal["function"]
    function: NamedFunction


class StreamOptions(Part):
    include_usage: StrictBool | None = None


class SchemaForm(Part):
    name: Text | None = None
    schema_: Json | None = Field(None, alias="schema")
    strict: StrictBool | None = None


class ResponseFormat(Part):
    type: Literal["text", "json_object", "json_schema"]
    json_schema: SchemaForm | None = None


class ChatBody(Part):
    """A conversation to be answered."""

    model: Text = Field(description="`aster`, or one of the models that `GET /v1/models` lists.")
    messages: list[ChatMessage] = Field(min_length=1, max_length=MOST_LINES)
    stream: StrictBool | None = None
    stream_options: StreamOptions | None = None
    tools: list[ChatTool] | None = None
    tool_choice: Literal["auto", "none", "required"] | NamedChoice | None = None
    parallel_tool_calls: StrictBool | None = None
    functions: list[Any] | None = None
    max_tokens: int | None = Field(None, ge=1)
    max_completion_tokens: int | None = Field(None, ge=1)
    temperature: float | None = Field(None, ge=0, le=2)
    top_p: float | None = Field(None, ge=0, le=1)
    presence_penalty: float | None = Field(None, ge=-2, le=2)
    frequency_penalty: float | None = Field(None, ge=-2, le=2)
    stop: Text | list[Text] | None = None
    n: int | None = None
    seed: int | None = None
    logprobs: StrictBool | None = None
    top_logprobs: int | None = None
    logit_bias: dict[str, float] | None = None
    user: Text | None = Field(None, max_length=512)
    safety_identifier: Text | None = Field(None, max_length=512)
    metadata: dict[str, Any] | None = None
    response_format: ResponseFormat | None = None
    reasoning_effort: Text | None = None
    store: StrictBool | None = None

    def check(self) -> None:
        """Refuse what would change the answer and cannot be done."""
        if self.n not in (None, 1):
            raise unfit("n", "has to be 1: a turn has one answer")
        if self.functions:
            raise unfit("functions", "is not taken; send `tools`")
        if self.logprobs or self.top_logprobs:
            raise unfit("logprobs", "cannot be given: an answer may come from several model calls")

    @property
    def instructions(self) -> str:
        """The client's own instructions, in order."""
        said = [_plain(m.content) for m in self.messages if m.role in ("system", "developer")]
        form = self.response_format
        if form is not None and form.type == "json_object":
            said.append(ANY_JSON)
        return "\n\n".join(text for text in said if text.strip())

    def lines(self) -> list[Line]:
        return [
            _line(message, f"messages.{at}")
            for at, message in enumerate(self.messages)
            if message.role not in ("system", "developer")
        ]

    def options(self) -> TurnOptions:
        stop = (self.stop,) if isinstance(self.stop, str) else tuple(self.stop or ())
        if len(stop) > 4 or not all(stop):
            raise unfit("stop", "has to be up to four texts that are not empty")
        form = self.response_format
        schema = form.json_schema.schema_ if form is not None and form.json_schema is not None else None
        if form is not None and form.type == "json_schema" and schema is None:
            raise unfit("response_format.json_schema.schema", "is missing")
        return TurnOptions(
            max_tokens=self.max_completion_tokens or self.max_tokens,
            temperature=self.temperature,
            top_p=self.top_p,
            presence_penalty=self.presence_penalty,
            stop=stop,
            tool_choice=self._choice(),
            output_schema=schema,
        )

    def _choice(self) -> ToolChoice | None:
        choice = self.tool_choice
        if isinstance(choice, NamedChoice):
            name = choice.function.name
            if name not in {tool.name for tool in self.client_tools()}:
                raise unfit("tool_choice", f"names {name!r}, which is not among `tools`")
            return ToolChoice(mode="named", name=name)
        return None if choice in (None, "auto") else ToolChoice(mode=choice)

    def client_tools(self) -> tuple[ToolDef, ...]:
        found: list[ToolDef] = []
        for at, tool in enumerate(self.tools or ()):
            if tool.type != "function" or tool.function is None:
                raise unfit(f"tools.{at}.type", "has to be function")
            given = tool.function
            found.append(
                ToolDef(
                    name=given.name,
                    description=given.description or "",
                    input_schema=given.parameters or _NO_SCHEMA,
                )
            )
        return tuple(found)


def _plain(content: Content | None) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    return "".join(item.text for item in content if isinstance(item, TextItem))


def _line(message: ChatMessage, field: str) -> Line:
    content = _content(message.content, field)
    if message.role == "user":
        if not content:
            raise unfit(f"{field}.content", "is empty")
        return Line("user", content)
    if message.role == "assistant":
        return Line("assistant", content, tuple(_call(c, f"{field}.tool_calls") for c in message.tool_calls or ()))
    if message.role == "tool" and message.tool_call_id:
        return Line("tool", content, call_id=message.tool_call_id)
    raise unfit(f"{field}.tool_call_id" if message.role == "tool" else f"{field}.role", "is missing or not taken")


def _content(content: Content | None, field: str) -> tuple[MediaBlock, ...]:
    if content is None or isinstance(content, str):
        return (TextBlock(text=content),) if content else ()
    return tuple(_block(item, f"{field}.content.{at}") for at, item in enumerate(content))


def _block(item: Item, field: str) -> MediaBlock:
    match item:
        case TextItem():
            return TextBlock(text=item.text)
        case RefusalItem():
            return TextBlock(text=item.refusal)
        case ImageItem():
            return media_parts.image(item.image_url.url, f"{field}.image_url.url")
        case SoundItem():
            return media_parts.recording(item.input_audio.data, item.input_audio.format, f"{field}.input_audio")
        case FileItem():
            if item.file.file_data is None:
                raise unfit(f"{field}.file.file_data", "is missing; files are not kept here by id")
            return media_parts.document(item.file.file_data, item.file.filename, f"{field}.file.file_data")


def _call(called: Called, field: str) -> ToolUseBlock:
    return ToolUseBlock(id=called.id, name=called.function.name, input=arguments(called.function.arguments, field))


def arguments(text: str, field: str) -> dict[str, Any]:
    """The arguments of an earlier call, which have to be an object."""
    try:
        given = json.loads(text or "{}")
    except ValueError:
        given = None
    if not isinstance(given, dict):
        raise unfit(field, "has arguments that are not a JSON object")
    return cast("dict[str, Any]", given)
