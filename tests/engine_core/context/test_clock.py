"""When a message was said: to the minute, in the operator's zone, kept as it was said."""

import pytest

from aster.contracts.errors import EngineError
from aster.engine_core.context.clock import shown, stamp
from aster.infra.settings import load

AT = 1_793_000_000_000


def test_a_time_is_kept_with_its_zone_and_shown_with_its_day() -> None:
    assert stamp(AT, "UTC") == "2026-10-26T07:33+00:00"
    assert stamp(AT + 39_000, "UTC") == stamp(AT, "UTC")
    assert stamp(AT, "Europe/Berlin") == "2026-10-26T08:33+01:00"
    assert shown("2026-10-26T07:33+00:00") == "<time>Monday 2026-10-26 07:33 UTC</time>"
    assert shown("2026-10-26T08:33+01:00") == "<time>Monday 2026-10-26 08:33 UTC+01:00</time>"


def test_no_clock_no_time() -> None:
    assert stamp(AT, "off") is None


def test_what_is_no_time_is_shown_as_it_stands() -> None:
    assert shown("noon") == "<time>noon</time>"


def test_a_zone_nobody_knows_stops_the_start() -> None:
    assert load({"TIME_ZONE": "Asia/Tokyo"}, None).time_zone == "Asia/Tokyo"
    for wrong in ("Mars/Olympus", "../../etc/passwd", "/etc/passwd"):
        with pytest.raises(EngineError, match="TIME_ZONE"):
            load({"TIME_ZONE": wrong}, None)
