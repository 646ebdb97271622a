"""What turns texts into vectors, whoever does it.

Vectors of two makers can never be compared, so each has a `fingerprint` that is kept with every vector it made. All
vectors have length 1: their dot product is the cosine.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix: TypeAlias = NDArray[np.float32]
    """One row of `dimensions` numbers for each text."""


class EmbeddingsUnavailable(Exception):
    """No vectors can be had now; the message says why, and what an operator can do."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A text as a model read it: its vector, and one of length 1 for each token that is part of a word. `words` has
    the word of each token; both are empty when the maker of the vector shows no tokens."""

    vector: "Matrix"
    words: list[str]
    tokens: "Matrix"


class Embedder(Protocol):
    """Makes vectors. `dimensions` is None as long as an endpoint has not answered once."""

    @property
    def fingerprint(self) -> str: ...

    @property
    def dimensions(self) -> int | None: ...

    async def embed(self, texts: Sequence[str]) -> "Matrix":
        """The vectors of the texts, in their order; raises EmbeddingsUnavailable."""
        ...


@runtime_checkable
class Reader(Protocol):
    """An embedder that shows the vectors of its tokens too."""

    async def read(self, texts: Sequence[str]) -> list[Reading]: ...
