"""The rules every contract inherits: frozen, by keyword, defaults left out, unknown fields ignored."""

import msgspec
import pytest

from aster.contracts.blocks import ImageBlock, TextBlock, ToolUseBlock, UrlSource, text_of
from aster.contracts.llm import TokenUsage
from aster.contracts.model import Contract, decode, encode, to_builtins
from aster.contracts.tools import Effect, OutcomeClass, ToolCall, ToolOutcome
from aster.contracts.turn import Answer, CallState, Question, TurnState, TurnStatus


class Point(Contract):
    x: int
    label: str = "origin"


class Point3(Point):
    z: int = 0


@pytest.mark.parametrize("kind", [Point, Point3])
def test_a_contract_is_frozen_and_built_by_keyword(kind: type[Point]) -> None:
    point = kind(x=1)
    with pytest.raises(AttributeError):
        point.x = 2  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(TypeError):
        kind(1)  # pyright: ignore[reportCallIssue]


def test_defaults_are_not_written_and_unknown_fields_not_read() -> None:
    assert encode(Point3(x=1)) == b'{"x":1}'
    assert decode(b'{"x":1,"y":2}', Point3) == Point3(x=1)
    assert to_builtins(Point(x=1, label="a")) == {"x": 1, "label": "a"}


@pytest.mark.parametrize("data", [b"{}", b'{"x":"1"}', b'{"x":1.5}', b"null"])
def test_a_wrong_value_is_refused_not_converted(data: bytes) -> None:
    with pytest.raises(msgspec.ValidationError):
        decode(data, Point)


def test_mutable_defaults_are_not_shared() -> None:
    one, two = TurnState(turn_id="a"), TurnState(turn_id="b")
    one.calls["c"] = CallState(call=ToolCall(id="c", name="bash", input={}))
    assert two.calls == {}


def test_text_of_takes_only_what_was_said() -> None:
    blocks = (
        TextBlock(text="a "),
        ToolUseBlock(id="1", name="bash", input={}),
        ImageBlock(source=UrlSource(url="https://example.org/a.png")),
        TextBlock(text="b"),
    )
    assert text_of(blocks) == "a b"


def test_usage_adds_up_in_four_buckets() -> None:
    total = TokenUsage(input=1, output=2).plus(TokenUsage(input=10, cache_read=3, cache_write=4))
    assert total == TokenUsage(input=11, output=2, cache_read=3, cache_write=4)
    assert total.input_total == 18


def test_only_an_effect_without_trace_may_be_repeated() -> None:
    assert {effect for effect in Effect if effect.repeatable} == {Effect.PURE, Effect.IDEMPOTENT}


def test_an_outcome_says_in_fields_whether_it_failed() -> None:
    fine = ToolOutcome.text("error: not an error", {"exit_code": 0})
    assert fine.ok
    assert fine.failure is None
    bad = ToolOutcome.error("no", reason="timeout", failure=OutcomeClass.RETRYABLE, retry_safe=True)
    assert (bad.ok, bad.reason, bad.failure, bad.retry_safe) == (False, "timeout", OutcomeClass.RETRYABLE, True)
    assert ToolOutcome.error("no", reason="x").failure is OutcomeClass.DIAGNOSTIC


def test_a_call_waits_until_its_question_is_answered() -> None:
    call = CallState(call=ToolCall(id="c", name="bash", input={}))
    assert call.open_question is None
    call.questions.append(Question(request_id="q1", kind="permission"))
    assert call.open_question == call.questions[0]
    assert call.answered("permission") is None
    call.questions[0] = Question(request_id="q1", kind="permission", answer=Answer(text="yes", approved=True))
    assert call.open_question is None
    answer = call.answered("permission")
    assert answer is not None
    assert answer.approved
    assert call.answered("in_doubt") is None


def test_a_turn_knows_which_calls_have_no_result() -> None:
    state = TurnState(turn_id="t", calls={"c": CallState(call=ToolCall(id="c", name="bash", input={}))})
    assert [call.call.id for call in state.unresolved] == ["c"]


def test_a_suspended_turn_has_not_ended() -> None:
    assert {status for status in TurnStatus if not status.ended} == {TurnStatus.RUNNING, TurnStatus.SUSPENDED}
