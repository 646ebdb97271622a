"""How often turns may have a question read by the model while many run at once. Reading takes as long as the rest of a
short turn, so they would wait for nothing else; those beyond the allowance are answered by words alone, and say so.
"""

from collections.abc import Callable
from time import monotonic
from typing import Final

A_SECOND: Final = 10.0
AT_ONCE: Final = 20.0


class Allowance:
    """So many at once, and so many a second after that."""

    def __init__(
        self, a_second: float = A_SECOND, at_once: float = AT_ONCE, clock: Callable[[], float] = monotonic
    ) -> None:
        self._a_second = a_second
        self._at_once = self._left = at_once
        self._clock = clock
        self._at = clock()

    def take(self) -> bool:
        """Whether one more may be read now."""
        now = self._clock()
        self._left = min(self._at_once, self._left + (now - self._at) * self._a_second)
        self._at = now
        if self._left < 1:
            return False
        self._left -= 1
        return True
