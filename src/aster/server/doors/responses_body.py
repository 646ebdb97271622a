"""What a client of `/v1/responses` sends, and what the engine makes of it.

Items that an assistant left side by side (a text, its calls) are one line, as they were one answer. Reasoning that a
client sends back is the model's own business and is left out.
"""

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Discriminator, Field, StrictBool, Tag

from aster.contracts.blocks import MediaBlock, TextBlock, ToolUseBlock
from aster.contracts.llm import ToolChoice
from aster.contracts.tools import ToolDef
from aster.contracts.turn import TurnOptions
from aster.engine_core.client_tools import unfit
from aster.engine_core.door_places import BETWEEN
from aster.server.bodies import MESSAGE_CHARS
from aster.server.doors import media_parts
from aster.server.doors.chat_body import ANY_JSON, arguments
from aster.server.doors.lines import MOST_LINES, Line
from aster.server.media import Part, Text

Json: TypeAlias = dict[str, Any]


class TextItem(Part):
    type: Literal["input_text", "output_text", "text"]
    text: Text = Field(max_length=MESSAGE_CHARS)


class RefusalItem(Part):
    type: Literal["refusal"]
    refusal: Text


class ImageItem(Part):
    type: Literal["input_image"]
    image_url: Text | None = None


class FileItem(Part):
    type: Literal["input_file"]
    file_data: Text | None = None
    file_url: Text | None = None
    filename: Text | None = Field(None, max_length=512)


ContentItem: TypeAlias = Annotated[TextItem | RefusalItem | ImageItem | FileItem, Field(discriminator="type")]
Content: TypeAlias = Annotated[Text, Field(max_length=MESSAGE_CHARS)] | list[ContentItem]


class MessageItem(Part):
    """What somebody said."""

    type: Literal["message"] = "message"
    role: Literal["user", "assistant", "system", "developer"]
    content: Content


class CallItem(Part):
    """A call that was made earlier."""

    type: Literal["function_call"]
    call_id: Text
    name: Text
    arguments: Text = ""


class OutputItem(Part):
    """What a call came to."""

    type: Literal["function_call_output"]
    call_id: Text
    output: Content


class ReasoningItem(Part):
    type: Literal["reasoning"]


def _kind(item: Any) -> str | None:
    given = item.get("type") if isinstance(item, dict) else getattr(item, "type", None)  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
    return "message" if given is None else str(given)  # pyright: ignore[reportUnknownArgumentType]


Item: TypeAlias = Annotated[
    Annotated[MessageItem, Tag("message")]
    | Annotated[CallItem, Tag("function_call")]
    | Annotated[OutputItem, Tag("function_call_output")]
    | Annotated[ReasoningItem, Tag("reasoning")],
    Discriminator(_kind),
]


class FunctionTool(Part):
    type: Text
    name: Text = ""
    description: Text | None = None
    parameters: Json | None = None
    strict: StrictBool | None = None


class NamedChoice(Part):
    type: Literal["function"]
    name: Text


class TextFormat(Part):
    type: Literal["text", "json_object", "json_schema"] = "text"
    name: Text | None = None
    description: Text | None = None
    schema_: Json | None = Field(None, alias="schema")
    strict: StrictBool | None = None

    @property
    def told(self) -> Json:
        """As a response says it again."""
        if self.type != "json_schema":
            return {"type": self.type}
        named = {"type": self.type, "name": self.name or "", "description": self.description}
        return {**named, "schema": self.schema_, "strict": bool(self.strict)}


class TextWish(Part):
    format: TextFormat | None = None
    verbosity: Text | None = None


class ReasoningWish(Part):
    effort: Text | None = None
    summary: Text | None = None


class ResponsesBody(Part):
    """What is to be answered: all of a conversation, or what comes after `previous_response_id`."""

    model: Text = Field(description="`aster`, or one of the models that `GET /v1/models` lists.")
    input: Annotated[Text, Field(max_length=MESSAGE_CHARS)] | Annotated[list[Item], Field(max_length=MOST_LINES)]
    instructions: Text | None = None
    previous_response_id: Text | None = None
    conversation: Any = None
    prompt: Any = None
    stream: StrictBool | None = None
    background: StrictBool | None = None
    store: StrictBool | None = None
    tools: list[FunctionTool] | None = None
    tool_choice: Literal["auto", "none", "required"] | NamedChoice | None = None
    parallel_tool_calls: StrictBool | None = None
    max_output_tokens: int | None = Field(None, ge=1)
    max_tool_calls: int | None = None
    temperature: float | None = Field(None, ge=0, le=2)
    top_p: float | None = Field(None, ge=0, le=1)
    presence_penalty: float | None = Field(None, ge=-2, le=2)
    frequency_penalty: float | None = Field(None, ge=-2, le=2)
    top_logprobs: int | None = None
    text: TextWish | None = None
    reasoning: ReasoningWish | None = None
    truncation: Text | None = None
    metadata: dict[str, Any] | None = None
    user: Text | None = Field(None, max_length=512)
    safety_identifier: Text | None = Field(None, max_length=512)
    prompt_cache_key: Text | None = None
    service_tier: Text | None = None
    include: list[Any] | None = None
    stream_options: Any = None

    def check(self) -> None:
        """Refuse what would change the answer and cannot be done."""
        if self.conversation is not None:
            raise unfit("conversation", "is not taken; send previous_response_id, or metadata.task_id")
        if self.prompt is not None:
            raise unfit("prompt", "is not taken: no prompts are kept here")
        if self.top_logprobs:
            raise unfit("top_logprobs", "cannot be given: an answer may come from several model calls")

    @property
    def said(self) -> str:
        """The client's own instructions, in order."""
        texts = [self.instructions or ""]
        if not isinstance(self.input, str):
            system = (item for item in self.input if isinstance(item, MessageItem) and item.role in _SYSTEM)
            texts += [_plain(item.content) for item in system]
        form = self.text.format if self.text is not None else None
        if form is not None and form.type == "json_object":
            texts.append(ANY_JSON)
        return "\n\n".join(text for text in texts if text.strip())

    def lines(self) -> list[Line]:
        if isinstance(self.input, str):
            if not self.input.strip():
                raise unfit("input", "is empty")
            return [Line("user", (TextBlock(text=self.input),))]
        found: list[Line] = []
        for at, item in enumerate(self.input):
            line = _line(item, f"input.{at}")
            if line is None:
                continue
            if line.role == "assistant" and found and found[-1].role == "assistant":
                found[-1] = _joined(found[-1], line)
            else:
                found.append(line)
        return found

    def options(self) -> TurnOptions:
        form = self.text.format if self.text is not None else None
        if form is not None and form.type == "json_schema" and form.schema_ is None:
            raise unfit("text.format.schema", "is missing")
        return TurnOptions(
            max_tokens=self.max_output_tokens,
            temperature=self.temperature,
            top_p=self.top_p,
            presence_penalty=self.presence_penalty,
            tool_choice=self._choice(),
            output_schema=form.schema_ if form is not None and form.type == "json_schema" else None,
        )

    def _choice(self) -> ToolChoice | None:
        choice = self.tool_choice
        if isinstance(choice, NamedChoice):
            if choice.name not in {tool.name for tool in self.client_tools()}:
                raise unfit("tool_choice", f"names {choice.name!r}, which is not among `tools`")
            return ToolChoice(mode="named", name=choice.name)
        return None if choice in (None, "auto") else ToolChoice(mode=choice)

    def client_tools(self) -> tuple[ToolDef, ...]:
        found: list[ToolDef] = []
        for at, tool in enumerate(self.tools or ()):
            if tool.type != "function":
                raise unfit(f"tools.{at}.type", "has to be function; the engine's own tools need not be listed")
            schema = tool.parameters or {"type": "object", "properties": {}}
            found.append(ToolDef(name=tool.name, description=tool.description or "", input_schema=schema))
        return tuple(found)


_SYSTEM = ("system", "developer")


def _plain(content: Content) -> str:
    if isinstance(content, str):
        return content
    return "".join(item.text for item in content if isinstance(item, TextItem))


def _line(item: Item, field: str) -> Line | None:
    match item:
        case MessageItem(role="system" | "developer"):
            return None
        case MessageItem(role="user"):
            content = _content(item.content, field)
            if not content:
                raise unfit(f"{field}.content", "is empty")
            return Line("user", content)
        case MessageItem():
            return Line("assistant", _content(item.content, field))
        case CallItem():
            call = ToolUseBlock(
                id=item.call_id, name=item.name, input=arguments(item.arguments, f"{field}.arguments")
            )
            return Line("assistant", calls=(call,))
        case OutputItem():
            return Line("tool", _content(item.output, field), call_id=item.call_id)
        case ReasoningItem():
            return None


def _joined(one: Line, other: Line) -> Line:
    """What an assistant said and called at once; texts of two steps stand apart, as the chat door has them."""
    between = (TextBlock(text=BETWEEN),) if one.content and other.content else ()
    return Line("assistant", (*one.content, *between, *other.content), (*one.calls, *other.calls))


def _content(content: Content, field: str) -> tuple[MediaBlock, ...]:
    if isinstance(content, str):
        return (TextBlock(text=content),) if content else ()
    return tuple(_block(item, f"{field}.content.{at}") for at, item in enumerate(content))


def _block(item: ContentItem, field: str) -> MediaBlock:
    match item:
        case TextItem():
            return TextBlock(text=item.text)
        case RefusalItem():
            return TextBlock(text=item.refusal)
        case ImageItem():
            if item.image_url is None:
                raise unfit(f"{field}.image_url", "is missing; files are not kept here by id")
            return media_parts.image(item.image_url, f"{field}.image_url")
        case FileItem():
            data = item.file_data or item.file_url
            if data is None:
                raise unfit(f"{field}.file_data", "is missing; files are not kept here by id")
            return media_parts.document(data, item.filename, f"{field}.file_data")
