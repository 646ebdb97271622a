"""What is kept of providers' limits: the newest word on each, for as long as it means something."""

from aster.brain.protocol import Brain
from aster.brain.records import QuotaRow
from aster.infra.clock import now_ms

DAY = 86_400_000


def window(name: str, resets_at: int, remaining: int = 0) -> QuotaRow:
    return QuotaRow(
        endpoint="host#key",
        model="m",
        name=name,
        capacity=10,
        remaining=remaining,
        seen_at=now_ms(),
        resets_at=resets_at,
    )


async def test_the_newest_word_counts_until_it_is_over(brain: Brain) -> None:
    now = now_ms()
    await brain.put(window("requests", now + DAY), window("tokens", now - 1), window("retry", now - 2 * DAY))
    newer = window("requests", now + DAY, remaining=5)
    await brain.put(newer)
    assert await brain.quota_windows() == [newer]


async def test_what_is_long_over_is_dropped(brain: Brain) -> None:
    now = now_ms()
    await brain.put(window("requests", now + DAY), window("tokens", now - 1), window("retry", now - 2 * DAY))
    assert await brain.retain(deltas_before=0, observations_before=0) == 1
