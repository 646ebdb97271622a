"""Products of small matrices in the thread that asks for them.

A numerical library shares what it thinks is large among threads and waits for all of them; on a busy machine that takes
ten times as long as the product itself. Parts below its threshold are never shared, and cost no more; what is really
large is left to it.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

_SMALL: Final = 200_000
"""Multiplications; OpenBLAS shares what has more than 262,144."""
_LARGE: Final = 50_000_000


def product(left: NDArray[np.float32], right: NDArray[np.float32]) -> NDArray[np.float32]:
    """`left @ right`, both with two dimensions."""
    if left.shape[0] * right.size > _LARGE:
        return left @ right
    out = np.empty((left.shape[0], right.shape[1]), np.float32)
    step = max(_SMALL // max(right.size, 1), 1)
    for start in range(0, len(left), step):
        np.matmul(left[start : start + step], right, out=out[start : start + step])
    return out
