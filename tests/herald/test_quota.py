"""Limits are learned from headers; a call is only held back when it would certainly be refused."""

from datetime import UTC, datetime

import pytest

from aster.brain.records import QuotaRow
from aster.herald.quota import Quota, Window

NOW = 1_800_000_000_000


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> int:
        return self.now


def stamp(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def quota(clock: Clock, kept: list[QuotaRow] | None = None) -> Quota:
    return Quota("host#key", "m", (kept if kept is not None else []).append, clock)


def _row(endpoint: str) -> QuotaRow:
    return QuotaRow(
        endpoint=endpoint,
        model="m",
        name="retry",
        capacity=1,
        remaining=0,
        seen_at=NOW,
        resets_at=NOW + 9_000_000,
    )


def test_spans_and_times_are_read() -> None:
    learned = quota(Clock())
    learned.learn(
        {
            "x-ratelimit-limit-requests": "500",
            "x-ratelimit-remaining-requests": "499",
            "x-ratelimit-reset-requests": "120ms",
            "x-ratelimit-limit-tokens": "30000",
            "x-ratelimit-remaining-tokens": "29000",
            "x-ratelimit-reset-tokens": "1m30.5s",
            "anthropic-ratelimit-input-tokens-limit": "40000",
            "anthropic-ratelimit-input-tokens-remaining": "0",
            "anthropic-ratelimit-input-tokens-reset": stamp(NOW + 60_000),
        }
    )
    assert learned.windows == {
        "requests": Window("requests", 500, 499, NOW, NOW + 120),
        "tokens": Window("tokens", 30000, 29000, NOW, NOW + 90_500),
        "input-tokens": Window("input-tokens", 40000, 0, NOW, NOW + 60_000),
    }
    assert learned.wait() == 0.0


@pytest.mark.parametrize(
    ("reset", "ms"), [("6", 6000), ("0.5", 500), ("1h2m3s", 3_723_000), ("2d", 172_800_000), ("7m", 420_000)]
)
def test_every_way_to_write_a_span(reset: str, ms: int) -> None:
    learned = quota(Clock())
    learned.learn(
        {
            "x-ratelimit-limit-requests": "10",
            "x-ratelimit-remaining-requests": "3",
            "x-ratelimit-reset-requests": reset,
        }
    )
    assert learned.windows["requests"].resets_ms == NOW + ms


@pytest.mark.parametrize("reset", ["", "soon", "nan", "inf", "-5h", "1e300", "1800000000", "2031-01-01T00:00:00"])
@pytest.mark.parametrize("remaining", ["0", "", "many", "-1", "٣"])
def test_nonsense_is_not_a_limit(reset: str, remaining: str) -> None:
    learned = quota(Clock())
    headers = {
        "x-ratelimit-limit-requests": "10",
        "x-ratelimit-remaining-requests": remaining,
        "x-ratelimit-reset-requests": reset,
    }
    learned.learn(headers, refused=True)
    assert learned.wait() == 0.0


def test_a_limit_that_refills_holds_back_until_its_first_unit_is_there() -> None:
    clock = Clock()
    learned = quota(clock)
    learned.learn(
        {
            "x-ratelimit-limit-requests": "50",
            "x-ratelimit-remaining-requests": "0",
            "x-ratelimit-reset-requests": "24h",
        }
    )
    assert learned.wait() == 24 * 3600 / 50
    clock.now += 24 * 3600_000 // 50
    assert learned.wait() == 0.0


def test_retry_after_holds_back_for_exactly_so_long() -> None:
    clock = Clock()
    learned = quota(clock)
    learned.learn({"retry-after": "30"}, refused=True)
    assert learned.wait() == 30.0
    clock.now += 29_000
    assert learned.wait() == 1.0
    clock.now += 1000
    assert learned.wait() == 0.0


def test_a_wait_nobody_would_notice_is_none() -> None:
    learned = quota(Clock())
    learned.learn({"retry-after-ms": "40"}, refused=True)
    assert learned.wait() == 0.0


def test_an_answer_that_came_ends_the_wait_for_good() -> None:
    kept: list[QuotaRow] = []
    learned = quota(Clock(), kept)
    learned.learn({"retry-after": "300"}, refused=True)
    learned.learn({"retry-after": "300"})
    assert learned.wait() == 0.0
    again = quota(Clock())
    again.restore(kept)
    assert again.wait() == 0.0


def test_what_matters_is_kept_and_taken_up_again() -> None:
    clock, kept = Clock(), list[QuotaRow]()
    learned = quota(clock, kept)
    learned.learn({"retry-after": "3600"}, refused=True)
    again = quota(clock)
    again.restore([*kept, _row("other#key")])
    assert again.wait() == 3600.0
    other = Quota("host#key", "another", clock=clock)
    other.restore(kept)
    assert other.wait() == 0.0


def test_a_limit_that_holds_nobody_back_is_kept_now_and_then() -> None:
    clock, kept = Clock(), list[QuotaRow]()
    learned = quota(clock, kept)
    headers = {
        "x-ratelimit-limit-requests": "50",
        "x-ratelimit-remaining-requests": "40",
        "x-ratelimit-reset-requests": "10s",
    }
    for _ in range(5):
        learned.learn(headers)
        clock.now += 1000
    assert len(kept) == 1
    clock.now += 30_000
    learned.learn(headers)
    assert len(kept) == 2


def test_what_was_seen_last_counts_wherever_it_was_seen() -> None:
    clock, kept = Clock(), list[QuotaRow]()
    elsewhere, here = quota(clock, kept), quota(clock)
    elsewhere.learn({"retry-after": "3600"}, refused=True)
    clock.now += 1000
    here.learn({"retry-after": "60"}, refused=True)
    here.restore(kept)
    assert here.wait() == 60.0
    clock.now += 1000
    elsewhere.learn({})
    here.restore(kept)
    assert here.wait() == 0.0
