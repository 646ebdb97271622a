"""How many tokens a prompt is: estimated, and pulled towards what the provider counted last."""

import gc
from dataclasses import dataclass

import msgspec

from aster.contracts.blocks import TextBlock
from aster.contracts.llm import ModelRequest
from aster.contracts.messages import Message
from aster.engine_core.context import measure
from aster.engine_core.context.measure import measured
from aster.engine_core.context.tokens import Anchor, calibrated, message_tokens, request_tokens, window_of
from aster.infra.settings import load
from aster.testing import ModelServer, Reply, Text, ToolCall, Usage
from tests.engine_core.frames import events
from tests.live import live


def said(text: str) -> Message:
    return Message(role="user", content=(TextBlock(text=text),))


def request(*messages: Message, model: str = "m") -> ModelRequest:
    return ModelRequest(model=model, system="You are kind.", messages=messages)


@dataclass
class Anchored:
    anchor: Anchor | None = None


def test_without_a_count_the_estimate_stands_alone() -> None:
    asked = request(said("hello there"))
    assert calibrated(Anchored(), asked) == request_tokens(asked)
    other = Anchor("another", request_tokens(asked), 10_000)
    assert calibrated(Anchored(other), asked) == request_tokens(asked)


def test_what_was_counted_is_exact_and_what_came_since_is_scaled() -> None:
    first = request(said("hello there"))
    anchor = Anchor("m", request_tokens(first), round(request_tokens(first) * 1.5))
    assert calibrated(Anchored(anchor), first) == anchor.counted
    longer = request(*first.messages, said("word " * 1000))
    added = message_tokens(longer.messages[1])
    assert calibrated(Anchored(anchor), longer) == anchor.counted + round(added * anchor.counted / anchor.estimated)


def test_an_odd_count_does_not_run_away() -> None:
    first = request(said("hi"))
    longer = request(*first.messages, said("word " * 1000))
    added = message_tokens(longer.messages[1])
    assert calibrated(Anchored(Anchor("m", request_tokens(first), 5_000)), longer) == 5_000 + 2 * added
    assert calibrated(Anchored(Anchor("m", request_tokens(longer), 10)), first) >= 0


def test_a_message_is_measured_once_and_forgotten_with_it() -> None:
    message = said("x" * 1000)
    assert measured(message) is measured(message)
    assert measured(message) == measured(said("x" * 1000))
    assert measured(message) != measured(said("y" * 1000))
    key = id(message)
    assert key in measure._known
    del message
    gc.collect()
    assert key not in measure._known


def test_the_same_words_of_another_are_another_message() -> None:
    mine = said("yes")
    assert measured(mine).fingerprint != measured(msgspec.structs.replace(mine, role="assistant")).fingerprint
    assert measured(mine).fingerprint == measured(msgspec.structs.replace(mine, id="msg-1")).fingerprint


def test_the_window_is_the_models_unless_the_operator_wants_less() -> None:
    whole = window_of("gpt-4o", load({}, None))
    assert whole == 128_000
    assert window_of("gpt-4o", load({"CONTEXT_WINDOW": "32000"}, None)) == 32_000
    assert window_of("gpt-4o", load({"CONTEXT_WINDOW": "500000"}, None)) == whole


async def test_over_http_the_estimate_of_a_call_is_beside_what_the_provider_counted(model: ModelServer) -> None:
    model.enqueue(
        Reply([ToolCall("glob", {"pattern": "*"})], usage=Usage(input=5_000, output=5)),
        Reply([Text("No.")], usage=Usage(input=5_060, output=5)),
    )
    async with live(model, context_window=50_000) as engine:
        first, second = events(await engine.execute("Any files?"), "context_manifest")
    assert (first["input_tokens"], second["input_tokens"]) == (5_000, 5_060)
    assert 0 < second["total_tokens"] - first["total_tokens"] < 200
    assert first["window"] == 50_000
