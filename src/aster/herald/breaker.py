"""The circuit breaker of one endpoint: after three failures in a row nobody asks it for a minute.

Then exactly one call is let through to see; it alone decides whether the circuit closes or stays open for
another minute. Time comes from outside, so that a test need not wait.
"""

import time
from collections.abc import Callable
from typing import Literal, TypeAlias

THRESHOLD = 3
COOLDOWN_SECONDS = 60.0
PROBING_SECONDS = 5.0
"""When to ask again while somebody else's call is the one let through."""

Circuit: TypeAlias = Literal["closed", "open", "half_open"]


class Breaker:
    """`admit` a call, then say how it went; what speaks neither for nor against the endpoint is `dismissed`."""

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        *,
        threshold: int = THRESHOLD,
        cooldown: float = COOLDOWN_SECONDS,
    ) -> None:
        self.state: Circuit = "closed"
        self.failures = 0
        self._clock = clock
        self._threshold = threshold
        self._cooldown = cooldown
        self._opened = 0.0

    def wait(self) -> float:
        """Seconds until a call may be let through; zero when one would be now."""
        if self.state == "closed":
            return 0.0
        if self.state == "half_open":
            return PROBING_SECONDS
        return max(0.0, self._opened + self._cooldown - self._clock())

    def admit(self) -> bool:
        """A call begins (only while `wait` is zero); says whether it is the one that decides."""
        if self.state == "closed":
            return False
        self.state = "half_open"
        return True

    def succeeded(self, probe: bool) -> None:
        """A whole answer came. One that was asked for before the circuit opened closes nothing."""
        if probe or self.state == "closed":
            self.state = "closed"
            self.failures = 0

    def failed(self, probe: bool) -> None:
        """The endpoint failed. A call from before the circuit opened does not keep it open for longer."""
        if not probe and self.state != "closed":
            return
        self.failures += 1
        if probe or self.failures >= self._threshold:
            self.state = "open"
            self._opened = self._clock()

    def dismissed(self, probe: bool) -> None:
        """The call says nothing about the endpoint (cancelled, or refused for what was asked): the next may try."""
        if probe:
            self.state = "open"
