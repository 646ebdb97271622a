"""Which tool must, may or must not be called, in every protocol's own words."""

import json
from typing import Any

import pytest

from aster.contracts.blocks import TextBlock
from aster.contracts.llm import ModelRequest, ToolChoice
from aster.contracts.messages import Message
from aster.contracts.tools import ToolDef
from aster.herald.endpoint import Endpoint
from aster.herald.protocols.anthropic import AnthropicProtocol
from aster.herald.protocols.gemini import GeminiProtocol
from aster.herald.protocols.local_chat import short
from aster.herald.protocols.openai_chat import OpenAIChatProtocol
from aster.herald.protocols.openai_responses import OpenAIResponsesProtocol
from aster.herald.tool_names import dotless

ENDPOINT = Endpoint.openai_compatible("http://127.0.0.1:1/v1", "m")
NONE, REQUIRED, NAMED = ToolChoice(mode="none"), ToolChoice(mode="required"), ToolChoice(mode="named", name="add")
SCHEMA: dict[str, Any] = {"type": "object", "properties": {}}


def request(choice: ToolChoice | None, *names: str) -> ModelRequest:
    tools = tuple(ToolDef(name=name, description="", input_schema=SCHEMA) for name in names or ("add", "sub"))
    said = Message(role="user", content=(TextBlock(text="go"),))
    return ModelRequest(model="m", system="", messages=(said,), tools=tools, tool_choice=choice)


@pytest.mark.parametrize(
    ("protocol", "field", "words"),
    [
        (
            OpenAIChatProtocol(),
            "tool_choice",
            ("none", "required", {"type": "function", "function": {"name": "add"}}),
        ),
        (OpenAIResponsesProtocol(), "tool_choice", ("none", "required", {"type": "function", "name": "add"})),
        (AnthropicProtocol(), "tool_choice", ({"type": "none"}, {"type": "any"}, {"type": "tool", "name": "add"})),
        (
            GeminiProtocol(),
            "toolConfig",
            tuple(
                {"functionCallingConfig": said}
                for said in ({"mode": "NONE"}, {"mode": "ANY"}, {"mode": "ANY", "allowedFunctionNames": ["add"]})
            ),
        ),
    ],
    ids=lambda item: getattr(item, "name", None),
)
def test_it_is_said(protocol: Any, field: str, words: tuple[Any, ...]) -> None:
    for choice, said in zip((NONE, REQUIRED, NAMED), words, strict=True):
        body = json.loads(protocol.encode(request(choice), ENDPOINT).body)
        assert body[field] == said
    assert field not in json.loads(protocol.encode(request(None), ENDPOINT).body)


def test_a_small_model_is_held_to_it() -> None:
    assert short(request(NONE)).output_schema is None
    assert "sub" not in json.dumps(short(request(NAMED)).output_schema)
    assert "sub" in json.dumps(short(request(REQUIRED)).output_schema)


def test_a_dotted_name_is_chosen_as_it_goes_out() -> None:
    renamed, _ = dotless(request(ToolChoice(mode="named", name="git.log"), "git.log"))
    assert renamed.tool_choice == ToolChoice(mode="named", name="git__log")
