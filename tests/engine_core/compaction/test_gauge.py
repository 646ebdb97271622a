"""The gauge: where levels begin, how far down a compaction goes, and that looking at it costs next to nothing."""

import time
from typing import Any, cast

import pytest

from aster.brain.records import ThreadKey
from aster.contracts.llm import ModelRequest
from aster.contracts.turn import TurnState
from aster.engine_core.compaction.gauge import Gauge, gauge
from aster.engine_core.compaction.orchestrator import batch_chars
from aster.engine_core.compaction.result_budget import over
from aster.engine_core.turn import Turn
from aster.infra.secrets import Secrets
from aster.infra.settings import Settings
from tests.engine_core.compaction.made import person, step


@pytest.mark.parametrize(
    ("tokens", "level"), [(0, 0), (5_999, 0), (6_000, 1), (7_500, 2), (8_500, 3), (9_500, 4), (20_000, 4)]
)
def test_levels_begin_where_they_should(tokens: int, level: int) -> None:
    assert Gauge(tokens, 10_000, 12_000, 1.0).level == level


def test_it_goes_down_to_the_low_mark_but_leaves_room_beside_a_large_frame() -> None:
    assert Gauge(9_000, 10_000, 12_000, 1.0).target(1_000) == 3_500
    assert Gauge(9_000, 10_000, 12_000, 1.0).target(8_000) == 600
    assert Gauge(9_000, 10_000, 12_000, 2.0).target(1_000) == 1_250, "where the provider counts twice as much"


@pytest.mark.parametrize(
    ("tokens", "level"), [(4_000, 0), (5_100, 1), (6_400, 1), (7_400, 2), (8_600, 3), (9_400, 3), (9_600, 4)]
)
def test_after_a_compaction_the_window_fills_up_some_before_the_next(tokens: int, level: int) -> None:
    assert Gauge(9_500, 10_000, 12_000, 1.0).settled(tokens) == level


def test_a_large_frame_is_known_to_leave_little_before_anything_was_compacted() -> None:
    assert [Gauge(9_500, 10_000, 12_000, 1.0).lowest(frame) for frame in (1_000, 4_500, 6_000)] == [0, 1, 2]


def test_an_overflow_teaches_it_that_it_counted_too_little() -> None:
    taught = Gauge(6_000, 10_000, 12_000, 1.0).overflowed()
    assert (taught.tokens, taught.ratio, taught.level) == (12_000, 2.0, 4)
    assert Gauge(13_000, 10_000, 12_000, 1.0).overflowed().ratio == 1.0


def test_looking_costs_next_to_nothing() -> None:
    messages = [person("go"), *(item for at in range(20) for item in step(f"c{at}", "words " * 50))]
    state = TurnState(turn_id="turn-1", messages=messages)
    turn = Turn(
        key=ThreadKey("u", "t"), brain=cast("Any", None), state=state, history=[], secrets=Secrets(), steered=False
    )
    request = ModelRequest(model="claude-haiku-4-5", system="be good", messages=tuple(messages))
    settings = Settings.model_validate({"llm_provider": "demo"})
    best = 1.0
    for _ in range(200):
        began = time.perf_counter()
        full = gauge(turn, request, settings)
        due = full.level > 0 or over(state.messages[-2:], batch_chars(full))
        best = min(best, time.perf_counter() - began)
        assert not due
    assert best < 50e-6
