"""The registry: bounded labels, numbers read where they live, and what a process is made of."""

import platform

import pytest
from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4, REGISTRY
from prometheus_client.parser import text_string_to_metric_families

from aster.raven.metrics import CONTENT_TYPE, COUNTERS, GAUGES, MOST_LABELS, OTHER, Capped, Metrics


def samples(metrics: Metrics) -> dict[str, float]:
    """Samples without labels, by name."""
    found: dict[str, float] = {}
    for family in text_string_to_metric_families(metrics.render().decode()):
        found |= {item.name: item.value for item in family.samples if not item.labels}
    return found


def test_every_gauge_and_counter_can_be_read_from_the_engine() -> None:
    metrics = Metrics("1")
    metrics.bind_gauges({name: lambda: 7 for name in (*GAUGES, *COUNTERS)})
    found = samples(metrics)
    assert all(found[f"aster_{name}"] == 7 for name in GAUGES)
    assert all(found[f"aster_{name}_total"] == 7 for name in COUNTERS)


def test_a_gauge_nobody_bound_is_absent_rather_than_wrong() -> None:
    assert "aster_slots_used" not in samples(Metrics("1"))


def test_a_reading_that_fails_leaves_the_others() -> None:
    metrics = Metrics("1")
    metrics.bind_gauges({"slots_used": lambda: 1 / 0, "slots_total": lambda: 512})
    found = samples(metrics)
    assert "aster_slots_used" not in found
    assert found["aster_slots_total"] == 512


def test_a_gauge_with_a_wrong_name_is_refused() -> None:
    with pytest.raises(ValueError, match="slots_uesd"):
        Metrics("1").bind_gauges({"slots_uesd": lambda: 1})


def test_a_later_reading_replaces_an_earlier_one() -> None:
    metrics = Metrics("1")
    metrics.bind_gauges({"slots_used": lambda: 1})
    metrics.bind_gauges({"slots_used": lambda: 2})
    assert samples(metrics)["aster_slots_used"] == 2


def test_the_process_and_the_build_are_described() -> None:
    metrics = Metrics("9.9")
    found = samples(metrics)
    assert found["process_resident_memory_bytes"] > 1_000_000
    assert found["process_cpu_seconds_total"] > 0
    assert found["process_open_fds"] > 0
    build = f'aster_build_info{{python="{platform.python_version()}",version="9.9"}} 1.0'
    assert build in metrics.render().decode()


def test_labels_are_capped() -> None:
    cap = Capped(2)
    assert [cap(word) for word in "abacb"] == ["a", "b", "a", OTHER, "b"]
    metrics = Metrics("1")
    for n in range(MOST_LABELS + 20):
        metrics.tools.labels(metrics.tool_names(f"tool-{n}"), "ok").inc()
    text = metrics.render().decode()
    assert text.count("aster_tool_calls_total{") == MOST_LABELS + 1
    assert 'aster_tool_calls_total{outcome="ok",tool="other"} 20.0' in text


def test_creation_times_are_left_out() -> None:
    metrics = Metrics("1")
    metrics.turns.labels("completed", "end_turn").inc()
    assert b"_created" not in metrics.render()


def test_engines_do_not_share_a_registry() -> None:
    one, two = Metrics("1"), Metrics("1")
    one.turns_started.inc()
    assert samples(one)["aster_turns_started_total"] == 1
    assert samples(two)["aster_turns_started_total"] == 0
    assert REGISTRY.get_sample_value("aster_turns_started_total") is None


def test_the_content_type_is_the_one_of_the_format() -> None:
    assert CONTENT_TYPE == CONTENT_TYPE_PLAIN_0_0_4
