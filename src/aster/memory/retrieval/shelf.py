"""What ranking needs to know of a store, and nothing else: a shelf is one store of one user.

Ranking never sees where a shelf is kept. Numbers identify records, larger for later ones. Every answer of a shelf
depends on its records alone, or the same question would get two answers.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from aster.memory.retrieval.rows import Rows


@dataclass(frozen=True, slots=True)
class Item:
    """A record as it is ranked. `when` and `used` are milliseconds: when it happened, when it last helped."""

    id: int
    text: str
    who: str = ""
    when: int = 0
    session: str = ""
    position: int = 0
    uses: int = 0
    used: int | None = None
    confidence: float = 1.0


class Shelf(Protocol):
    """One store of one user."""

    def rows(self) -> "Rows":
        """Every record's vector and columns, in memory."""
        ...

    def keyword(self, terms: Sequence[str], limit: int) -> Mapping[int, float]:
        """The records that have the most telling of these stems, each with its BM25 score."""
        ...

    def frequencies(self, terms: Collection[str]) -> Mapping[str, int]:
        """How many records have each stem; one that is missing has none."""
        ...

    def items(self, ids: Sequence[int]) -> Sequence[Item]:
        """The records with these numbers; one that has gone meanwhile is left out."""
        ...

    def tokens(self, ids: Sequence[int]) -> "Mapping[int, NDArray[np.uint8]]":
        """The packed token vectors (`maxsim.packed`) of those that have them."""
        ...

    def names(self) -> frozenset[str]:
        """The people known here, by the names they go by."""
        ...
