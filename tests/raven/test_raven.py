"""The facade: what is told to it comes out as metrics, observations and log lines, and it never raises."""

import asyncio
import logging
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from aster.contracts.llm import TokenUsage
from aster.infra.logging import bind
from aster.infra.secrets import PROCESS, REDACTED
from aster.raven.observation import Observation
from aster.raven.raven import KEPT_PER_MINUTE, Raven


@pytest.fixture
def seen() -> list[Observation]:
    return []


@pytest.fixture
def raven(seen: list[Observation]) -> Raven:
    return Raven(seen.append, version="1.2.3", slow_tool_seconds=2.0)


def value(raven: Raven, sample: str, **labels: str) -> float | None:
    """One sample of what a scraper would read."""
    for family in text_string_to_metric_families(raven.render().decode()):
        for item in family.samples:
            if item.name == sample and item.labels == labels:
                return item.value
    return None


async def test_a_turn_is_counted_by_how_it_ended(raven: Raven) -> None:
    async def turn(turn_id: str, status: str, stop: str | None, seconds: float) -> None:
        raven.turn_started("ann", "task", turn_id, 0)
        await asyncio.sleep(0)
        raven.turn_ended(status, seconds, stop)

    await asyncio.gather(
        turn("a", "completed", "end_turn", 0.2),
        turn("b", "completed", "end_turn", 0.3),
        turn("c", "errored", None, 1.0),
    )
    assert value(raven, "aster_turns_started_total") == 3
    assert value(raven, "aster_turns_total", status="completed", stop_reason="end_turn") == 2
    assert value(raven, "aster_turns_total", status="errored", stop_reason="") == 1
    assert value(raven, "aster_turn_seconds_sum", status="completed") == pytest.approx(0.5)
    assert value(raven, "aster_turns_running") == 0


async def test_running_follows_the_turn_of_the_context(raven: Raven) -> None:
    async def suspended() -> None:
        raven.turn_started("ann", "task", "t1", 0)
        assert value(raven, "aster_turns_running") == 1
        raven.turn_suspended()

    async def cancelled_while_suspended() -> None:
        with bind(turn_id="t1"):
            raven.turn_ended("cancelled", 5.0, None)

    await asyncio.create_task(suspended())
    assert value(raven, "aster_turns_running") == 0
    assert value(raven, "aster_turn_suspensions_total") == 1
    await asyncio.create_task(cancelled_while_suspended())
    assert value(raven, "aster_turns_running") == 0


def test_a_model_call_is_measured(raven: Raven) -> None:
    usage = TokenUsage(input=10, output=20, cache_read=300, cache_write=4)
    raven.model_called("m-1", 2.0, 0.4, usage, 0.25, "ok")
    raven.model_called("m-1", 1.0, None, None, None, "timeout")
    assert value(raven, "aster_model_calls_total", model="m-1", outcome="ok") == 1
    assert value(raven, "aster_model_calls_total", model="m-1", outcome="timeout") == 1
    assert value(raven, "aster_model_call_seconds_count", model="m-1") == 2
    assert value(raven, "aster_model_first_token_seconds_count", model="m-1") == 1
    assert value(raven, "aster_cost_usd_total", model="m-1") == 0.25
    buckets = {"input": 10, "output": 20, "cache_read": 300, "cache_write": 4}
    for bucket, count in buckets.items():
        assert value(raven, "aster_tokens_total", model="m-1", bucket=bucket) == count


def test_a_slow_tool_and_a_denied_one_are_noted(raven: Raven, seen: list[Observation]) -> None:
    with bind(user_id="ann", task_id="task", turn_id="turn-1", request_id="req-1"):
        raven.tool_ran("bash", True, None, 1.0)
        raven.tool_ran("bash", True, None, 3.0)
        raven.tool_ran("bash", False, "permission_denied", 0.1)
        raven.tool_ran("bash", False, None, 0.1)
    assert value(raven, "aster_tool_calls_total", tool="bash", outcome="ok") == 2
    assert value(raven, "aster_tool_calls_total", tool="bash", outcome="permission_denied") == 1
    assert value(raven, "aster_tool_calls_total", tool="bash", outcome="failed") == 1
    assert value(raven, "aster_tool_seconds_count", tool="bash") == 4
    slow, denied = seen
    assert (slow.kind, slow.level, slow.data) == ("slow_tool", "warning", {"tool": "bash", "seconds": 3.0})
    assert (denied.kind, denied.data) == ("permission_denied", {"tool": "bash"})
    for note in seen:
        assert (note.user_id, note.task_id, note.turn_id, note.request_id) == ("ann", "task", "turn-1", "req-1")


def test_people_requests_streams_and_recoveries_are_counted(raven: Raven) -> None:
    raven.hitl_opened("permission")
    raven.hitl_resolved("permission", 70.0)
    raven.request_served("/tasks/{task_id}", "GET", 200, 0.003)
    raven.request_served("/tasks/{task_id}", "GET", 404, 0.001)
    raven.stream_opened()
    raven.stream_opened()
    raven.stream_closed()
    raven.recovered(3)
    raven.recovered(0)
    assert value(raven, "aster_hitl_requests_total", kind="permission") == 1
    assert value(raven, "aster_hitl_answers_total", kind="permission") == 1
    assert value(raven, "aster_hitl_wait_seconds_bucket", kind="permission", le="300.0") == 1
    served = {"route": "/tasks/{task_id}", "method": "GET"}
    assert value(raven, "aster_http_requests_total", **served, status="200") == 1
    assert value(raven, "aster_http_requests_total", **served, status="404") == 1
    assert value(raven, "aster_http_request_seconds_count", route="/tasks/{task_id}") == 2
    assert value(raven, "aster_streams_open") == 1
    assert value(raven, "aster_turns_recovered_total") == 3


def test_a_note_is_logged_and_kept_without_secrets(
    raven: Raven, seen: list[Observation], caplog: pytest.LogCaptureFixture
) -> None:
    PROCESS.register("sk-very-secret-1")
    with caplog.at_level(logging.INFO, "aster.raven"), bind(user_id="ann"):
        raven.note("error", "error", "refused sk-very-secret-1", kind="k", header={"x": "sk-very-secret-1"})
    (kept,) = seen
    assert kept.message == f"refused {REDACTED}"
    assert kept.data == {"kind": "k", "header": {"x": REDACTED}}
    assert kept.event_id.startswith("obs-")
    assert kept.created_at > 0
    (line,) = caplog.records
    assert line.getMessage() == kept.message
    assert line.levelno == logging.ERROR
    assert value(raven, "aster_observations_total", kind="error", level="error") == 1


def test_data_of_any_kind_can_be_noted(raven: Raven, seen: list[Observation]) -> None:
    raven.note("reload", "info", "odd", error=ValueError("x"), keys={1: {"a"}}, usage=TokenUsage(input=1))
    assert seen[0].data == {"error": "ValueError('x')", "keys": {"1": ["a"]}, "usage": {"input": 1}}
    raven.note("reload", "info", "no data")
    assert seen[1].data is None


def test_a_storm_is_counted_but_does_not_fill_the_brain(seen: list[Observation]) -> None:
    now = 0.0
    raven = Raven(seen.append, clock=lambda: now)
    for _ in range(KEPT_PER_MINUTE + 50):
        raven.note("error", "debug", "again")
    raven.note("migration", "info", "another kind still gets through")
    assert len(seen) == KEPT_PER_MINUTE + 1
    assert value(raven, "aster_observations_dropped_total") == 50
    assert value(raven, "aster_observations_total", kind="error", level="debug") == KEPT_PER_MINUTE + 50
    now = 61.0
    raven.note("error", "debug", "a minute later")
    assert seen[-1].message == "a minute later"


def test_nothing_that_goes_wrong_here_reaches_the_work(caplog: pytest.LogCaptureFixture) -> None:
    def broken(observation: Observation) -> None:
        raise OSError("the disk is full")

    raven = Raven(broken)
    wrong: Any = object()
    with caplog.at_level(logging.ERROR, "aster.raven"):
        raven.note("error", "error", "x")
        raven.turn_ended("completed", wrong, None)
        raven.model_called("m", 1.0, None, wrong, None, "ok")
        raven.note("error", wrong, "x")
    assert [record.__dict__.get("observation") for record in caplog.records if record.exc_info] == [
        "note",
        "turn_ended",
        "model_called",
        "note",
    ]


def test_the_engine_says_where_its_numbers_are(raven: Raven) -> None:
    raven.bind_gauges({"slots_total": lambda: 512})
    assert value(raven, "aster_slots_total") == 512


def test_it_closes_with_no_traces(raven: Raven) -> None:
    raven.close()
