"""What says the same twice waits until everything else has been said."""

import numpy as np
from numpy.typing import NDArray

from aster.memory.retrieval.product import product
from aster.memory.retrieval.rows import Floats, Ints


def spread_out(best: Ints, vectors: Floats, alike: float) -> Ints:
    """The same records, those first that are not nearly the same as a better one. Both parts keep their order."""
    if len(best) < 2:
        return best
    ordered = vectors[best]
    near: NDArray[np.bool_] = np.tril(product(ordered, ordered.T) >= alike, -1)
    repeats = near.any(axis=1)
    return np.concatenate([best[~repeats], best[repeats]])
