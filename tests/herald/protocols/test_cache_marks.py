"""Marks for the provider's cache, as each protocol takes them: never more than four, on the ends of what stays."""

import json
from typing import Any

import msgspec

from aster.contracts.llm import ModelRequest
from aster.herald.endpoint import Endpoint
from aster.herald.protocols.anthropic import AnthropicProtocol
from aster.herald.protocols.base import WireProtocol
from aster.herald.protocols.gemini import GeminiProtocol
from aster.herald.protocols.openai_chat import OpenAIChatProtocol
from aster.herald.protocols.openai_responses import OpenAIResponsesProtocol
from tests.herald.asking import WEATHER, asking, assistant, user

ANTHROPIC = Endpoint.anthropic("key")
TALK = (user("one"), assistant("eins"), user("two"), assistant("zwei"), user("three"))


def body(request: ModelRequest, protocol: WireProtocol, endpoint: Endpoint) -> dict[str, Any]:
    return json.loads(protocol.encode(request, endpoint).body)


def marks(value: Any, path: str = "") -> list[str]:
    """Where the marks of a body are."""
    if isinstance(value, list):
        return [found for at, item in enumerate(value) for found in marks(item, f"{path}[{at}]")]
    if not isinstance(value, dict):
        return []
    here = [path] if "cache_control" in value else []
    return here + [found for key, item in value.items() for found in marks(item, f"{path}.{key}")]


def talking(**fields: Any) -> ModelRequest:
    given = {"system": "Be brief.", "tools": (WEATHER,), "cache_upto": 5, "cache_before": 3} | fields
    return asking(*TALK, **given)


def test_anthropic_has_four_tools_instructions_the_prompt_before_and_the_end() -> None:
    found = marks(body(talking(), AnthropicProtocol(), ANTHROPIC))
    assert found == [".tools[0]", ".system[0]", ".messages[2].content[0]", ".messages[4].content[0]"]


def test_what_all_conversations_share_has_a_mark_of_its_own() -> None:
    shared = body(talking(system="Be brief.\n\nYou are Ida.", system_shared=9), AnthropicProtocol(), ANTHROPIC)
    assert [block["text"] for block in shared["system"]] == ["Be brief.", "\n\nYou are Ida."]
    found = marks(shared)
    assert found == [".system[0]", ".system[1]", ".messages[2].content[0]", ".messages[4].content[0]"]


def test_where_there_is_less_there_are_fewer() -> None:
    assert marks(body(talking(tools=()), AnthropicProtocol(), ANTHROPIC))[:2] == [
        ".system[0]",
        ".messages[2].content[0]",
    ]
    assert marks(body(talking(tools=(), system="", cache_before=0), AnthropicProtocol(), ANTHROPIC)) == [
        ".messages[4].content[0]"
    ]


def test_without_marks_there_are_none() -> None:
    assert marks(body(talking(cache_marks=False), AnthropicProtocol(), ANTHROPIC)) == []


def test_a_mark_is_no_part_of_what_is_said() -> None:
    plain = body(talking(cache_marks=False), AnthropicProtocol(), ANTHROPIC)
    marked = json.dumps(body(talking(), AnthropicProtocol(), ANTHROPIC))
    assert json.loads(marked.replace(', "cache_control": {"type": "ephemeral"}', "")) == plain


def test_openai_gets_the_conversations_name_and_nobody_else_does() -> None:
    request = talking(cache_key="c0ffee")
    openai, other = Endpoint.openai("key"), Endpoint.openai_compatible("http://127.0.0.1:1/v1", "m")
    for protocol in (OpenAIChatProtocol(), OpenAIResponsesProtocol()):
        assert body(request, protocol, openai)["prompt_cache_key"] == "c0ffee"
        assert "prompt_cache_key" not in body(request, protocol, other)
        nameless = msgspec.structs.replace(request, cache_key=None)
        assert "prompt_cache_key" not in body(nameless, protocol, openai)
    assert "c0ffee" not in json.dumps(body(request, GeminiProtocol(), Endpoint.gemini("key")))
