"""What a client of `/api/chat` sends: the conversation of the chat door, with what Ollama's clients add to it."""

from collections.abc import Mapping
from typing import Any, Final, cast

from pydantic import Field, StrictBool, model_validator

from aster.server.bodies import MESSAGE_CHARS, TaskId
from aster.server.doors.chat_body import ChatBody, ChatMessage
from aster.server.doors.models import AGENT
from aster.server.media import Part, Text

_OPTIONS: Final = {
    "temperature": "temperature",
    "top_p": "top_p",
    "presence_penalty": "presence_penalty",
    "num_predict": "max_tokens",
    "stop": "stop",
}
_SIGNATURES: Final = {"iVBOR": "png", "/9j/": "jpeg", "R0lGOD": "gif", "UklGR": "webp"}


class GhostBody(ChatBody):
    """A conversation to be answered. With a `session_id` the engine keeps it, and what is new alone may be sent."""

    model: Text = Field(AGENT, description="`aster`, or one of the models that `GET /api/tags` lists.")
    messages: list[ChatMessage] = Field(min_length=1)
    session_id: TaskId | None = Field(None, description="The task to go on with; it is made if there is none.")

    @model_validator(mode="before")
    @classmethod
    def _translated(cls, given: object) -> object:
        """`options` and `images` as the chat door names them."""
        if not isinstance(given, dict):
            return given
        body = cast("dict[str, Any]", given)
        options: object = body.pop("options", None)
        if isinstance(options, Mapping):
            found = cast("Mapping[str, Any]", options)
            body = {**{name: found[key] for key, name in _OPTIONS.items() if key in found}, **body}
        messages: object = body.get("messages")
        if isinstance(messages, list):
            body = {**body, "messages": [_with_images(message) for message in cast("list[object]", messages)]}
        return body


class GenerateBody(Part):
    """A prompt to be answered once."""

    model: Text = AGENT
    prompt: Text = Field(min_length=1, max_length=MESSAGE_CHARS)
    system: Text | None = Field(None, max_length=MESSAGE_CHARS)
    stream: StrictBool = True


def named(model: str) -> str:
    """The model that is meant by a name as Ollama's clients write it."""
    return model.removesuffix(":latest")


def _with_images(message: object) -> object:
    if not isinstance(message, dict):
        return message
    said = cast("dict[str, Any]", message)
    images: object = said.get("images")
    if not isinstance(images, list) or not images or not isinstance(said.get("content"), str):
        return said
    items: list[Any] = [{"type": "text", "text": said["content"]}] if said["content"] else []
    items += [
        {"type": "image_url", "image_url": {"url": _address(image)}} for image in cast("list[object]", images)
    ]
    return {**{name: value for name, value in said.items() if name != "images"}, "content": items}


def _address(image: object) -> object:
    if not isinstance(image, str) or image.startswith("data:"):
        return image
    kind = next((kind for start, kind in _SIGNATURES.items() if image.startswith(start)), "png")
    return f"data:image/{kind};base64,{image}"
