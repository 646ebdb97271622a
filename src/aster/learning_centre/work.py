"""A piece of learning: what the centre runs, one after the other, for one person at a time.

It does all of its work on the workbench it is given, and commits what it has learned itself (`bench.commit`), so that
whatever it was made of is done in that very commit. It may be cut off anywhere: what it has not committed did not
happen.
"""

from collections.abc import Sequence
from typing import Protocol

from aster.contracts.learning import Changeset
from aster.learning_centre.workbench import Workbench


class Work(Protocol):
    """`idle_seconds` and `cooldown_seconds` say when the watchdog begins it by itself: after how long without a message
    from anybody, and how long after the last time. The schedule and a person's word run it whenever it is due. While it
    stays due it is run again, up to `rounds` times in a row."""

    @property
    def name(self) -> str: ...
    @property
    def idle_seconds(self) -> float: ...
    @property
    def cooldown_seconds(self) -> float: ...

    @property
    def rounds(self) -> int: ...

    async def users(self, bench: Workbench) -> Sequence[str]:
        """For whom there may be something to do; asked before a run that is for everybody."""
        ...

    async def due(self, bench: Workbench, user_id: str) -> bool:
        """Whether there is anything to do for a person; cheap, and no model is asked."""
        ...

    async def run(self, bench: Workbench, user_id: str) -> Changeset | None:
        """Do it; the changeset that was kept, or None when there was nothing to keep. Raises `Deferred` (from
        `bench.stand_back` and `bench.ask`) when it has to wait, `EngineError` when it fails."""
        ...
