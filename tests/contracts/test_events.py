"""The tolerant reader, and how the thread treats each event."""

import json

import msgspec
import pytest

from aster.contracts.blocks import TextBlock
from aster.contracts.events import (
    EVENT_TYPES,
    ContentBlockStop,
    Grade,
    Phase,
    TextDelta,
    ThreadLifecycle,
    ToolProgress,
    UnknownEvent,
    decode_event,
    grade_of,
    type_of,
)
from aster.contracts.model import encode

DESIGN = """
thread_lifecycle task_lifecycle turn_transition recovery content_block_start content_block_stop text_delta
thinking_delta tool_call tool_progress tool_result tool_error tool_retry hitl_request permission_prompt
hitl_resolved working_memory_update memory_retrieval memory_write context_manifest compaction_event
cache_hit_ratio_alert verification uncertainty todo_update plan_update subagent_lifecycle background_task
schedule_fired team_message worktree_event goal_status hook_ran provider_fallback circuit_state asset_state usage
budget_event heartbeat error reconnect
"""


def test_every_promised_event_exists() -> None:
    assert set(DESIGN.split()) <= EVENT_TYPES.keys()


@pytest.mark.parametrize("name", EVENT_TYPES)
def test_the_wire_name_is_the_tag_and_nothing_shadows_it(name: str) -> None:
    kind = EVENT_TYPES[name]
    assert kind.__struct_config__.tag_field == "type"
    assert "type" not in kind.__struct_fields__
    assert kind.__struct_fields__[:4] == ("task_id", "turn_id", "seq", "timestamp")


def test_a_field_from_a_newer_engine_is_ignored() -> None:
    event = decode_event('{"type":"text_delta","text":"a","block_index":0,"step":1,"mood":"calm"}')
    assert event == TextDelta(text="a", block_index=0, step=1)


def test_an_event_from_a_newer_engine_is_kept_as_it_was() -> None:
    raw = '{"type":"telepathy","task_id":"t","turn_id":"u","seq":9,"timestamp":"now","strength":3}'
    for data in (raw, raw.encode()):
        event = decode_event(data)
        assert isinstance(event, UnknownEvent)
        assert (event.raw_type, event.task_id, event.turn_id, event.seq) == ("telepathy", "t", "u", 9)
        assert json.loads(event.raw)["strength"] == 3


def test_a_known_event_that_is_broken_is_not_taken_for_a_new_one() -> None:
    with pytest.raises(msgspec.ValidationError, match="block_index"):
        decode_event('{"type":"text_delta","text":"a","step":1,"block_index":"first"}')


@pytest.mark.parametrize("data", ["{}", '{"type":3}', "[]"])
def test_what_is_no_event_is_refused(data: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        decode_event(data)


def test_only_what_can_be_rebuilt_is_a_delta() -> None:
    deltas = {name for name, kind in EVENT_TYPES.items() if kind.grade is Grade.DELTA}
    assert deltas == {"content_block_start", "text_delta", "thinking_delta", "tool_progress", "model_progress"}
    assert grade_of(ToolProgress(tool="bash", tool_call_id="c", text="x")) is Grade.DELTA


@pytest.mark.parametrize("phase", Phase)
def test_a_closing_phase_ends_the_turn(phase: Phase) -> None:
    ends = {Phase.COMPLETED, Phase.ERRORED, Phase.CANCELLED}
    expected = Grade.END if phase in ends else Grade.RECORD
    assert grade_of(ThreadLifecycle(phase=phase)) is expected


def test_an_event_is_small_on_the_wire_and_names_its_type() -> None:
    event = ContentBlockStop(block_index=0, block_type="text", step=1, block=TextBlock(text="hi"), seq=3)
    assert type_of(event) == "content_block_stop"
    assert encode(event) == (
        b'{"type":"content_block_stop","seq":3,"block_index":0,"block_type":"text","step":1,'
        b'"block":{"type":"text","text":"hi"}}'
    )
