"""Limits as providers tell them in headers: how much of each is left, and when it comes back.

A window only holds a call back when the provider would refuse it for certain: nothing is left, and not even
the first unit has come back. Limits refill little by little or all at once; the earliest of both counts.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import NamedTuple

from aster.brain.records import QuotaRow
from aster.herald.failure import retry_after
from aster.infra.clock import now_ms

RETRY = "retry"
"""The window of a plain `Retry-After`: one unit, gone, back at that time."""

_SLACK_MS = 50
_SAVE_EVERY_MS = 30_000
_LONGEST_MS = 32 * 86_400_000
_SPAN = re.compile(r"(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?")
_UNIT_MS = (86_400_000, 3_600_000, 60_000, 1000, 1)
_HEADERS: tuple[tuple[str, str], ...] = (
    *((name, f"x-ratelimit-{{}}-{name}") for name in ("requests", "tokens")),
    *(
        (name, f"anthropic-ratelimit-{name}-{{}}")
        for name in ("requests", "tokens", "input-tokens", "output-tokens")
    ),
)
_NAMES = tuple(
    (name, form.format("remaining"), form.format("limit"), form.format("reset")) for name, form in _HEADERS
)


class Window(NamedTuple):
    """One limit as it stood at `seen_ms`; `resets_ms` is when all of it is there again."""

    name: str
    limit: int
    remaining: int
    seen_ms: int
    resets_ms: int

    def wait_ms(self, now: int) -> int:
        """How long a call would certainly be refused."""
        if self.remaining > 0:
            return 0
        first_back = self.seen_ms + (self.resets_ms - self.seen_ms) // max(1, self.limit)
        left = first_back - now
        return left if left > _SLACK_MS else 0


class Quota:
    """What is known of one model's limits at one endpoint; `keep` is told what a restart should know."""

    def __init__(
        self,
        endpoint: str,
        model: str,
        keep: Callable[[QuotaRow], None] = lambda _: None,
        clock: Callable[[], int] = now_ms,
    ) -> None:
        self.windows: dict[str, Window] = {}
        self._endpoint = endpoint
        self._model = model
        self._keep = keep
        self._clock = clock
        self._saved: dict[str, tuple[int, bool]] = {}

    def wait(self) -> float:
        """Seconds until a call may be worth sending; zero when it is now."""
        if not self.windows:
            return 0.0
        now = self._clock()
        return max(window.wait_ms(now) for window in self.windows.values()) / 1000

    def learn(self, headers: Mapping[str, str], *, refused: bool = False) -> None:
        """Take in what an answer said; `Retry-After` is a limit only on a call that was `refused` for one."""
        now = self._clock()
        found = list(_windows(headers, now)) if any("ratelimit" in name for name in headers) else []
        wait = retry_after(headers) if refused else None
        if wait:
            found.append(Window(RETRY, 1, 0, now, now + min(round(wait * 1000), _LONGEST_MS)))
        elif not refused and (held := self.windows.get(RETRY)) is not None and not held.remaining:
            found.append(held._replace(remaining=1, seen_ms=now))
        for window in found:
            self.windows[window.name] = window
            self._save(window, now)

    def restore(self, rows: Iterable[QuotaRow]) -> None:
        """Take up what was known before a restart, or is known elsewhere; what was seen last counts."""
        for row in rows:
            known = self.windows.get(row.name)
            if known is not None and known.seen_ms > row.seen_at:
                continue
            if (row.endpoint, row.model) == (self._endpoint, self._model):
                window = Window(row.name, row.capacity, row.remaining, row.seen_at, row.resets_at)
                self.windows[row.name] = window
                self._saved[row.name] = (row.seen_at, window.remaining == 0)

    def _save(self, window: Window, now: int) -> None:
        """Keep what holds calls back at once, also when it no longer does; the rest only now and then."""
        saved, held_back = self._saved.get(window.name, (0, False))
        holds_back = window.wait_ms(now) > 0
        if holds_back or held_back or now - saved >= _SAVE_EVERY_MS:
            self._saved[window.name] = (now, holds_back)
            self._keep(self._row(window))

    def _row(self, window: Window) -> QuotaRow:
        return QuotaRow(
            endpoint=self._endpoint,
            model=self._model,
            name=window.name,
            capacity=window.limit,
            remaining=window.remaining,
            seen_at=window.seen_ms,
            resets_at=window.resets_ms,
        )


def _windows(headers: Mapping[str, str], now: int) -> Iterator[Window]:
    for name, remaining, limit, reset in _NAMES:
        left, most = _count(headers.get(remaining)), _count(headers.get(limit))
        resets = _moment(headers.get(reset), now)
        if left is not None and most and resets is not None:
            yield Window(name, most, left, now, resets)


def _count(value: str | None) -> int | None:
    return int(value) if value and value.isascii() and value.isdigit() and len(value) < 16 else None


def _moment(value: str | None, now: int) -> int | None:
    """When, from a span (`1m30s`, `644ms`, plain seconds) or a time; None when it is neither, or absurd."""
    if not value:
        return None
    try:
        moment = now + round(float(value) * 1000)
    except (ValueError, OverflowError):
        span = _SPAN.fullmatch(value)
        if span:
            parts = zip(span.groups(), _UNIT_MS, strict=True)
            moment = now + round(sum(float(number or 0) * unit for number, unit in parts))
        else:
            moment = _timestamp(value)
    return moment if moment is not None and 0 <= moment - now + 60_000 <= _LONGEST_MS else None


def _timestamp(value: str) -> int | None:
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    return round(moment.timestamp() * 1000) if moment.tzinfo else None
