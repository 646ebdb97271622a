import numpy as np
import pytest

from aster.memory.retrieval.product import product


@pytest.mark.parametrize(
    ("rows", "inner", "columns"), [(3000, 384, 1), (1, 384, 7), (5, 384, 1000), (400, 384, 400), (0, 384, 2)]
)
def test_it_is_the_product_whatever_the_size(rows: int, inner: int, columns: int) -> None:
    rng = np.random.default_rng(1)
    left = rng.standard_normal((rows, inner)).astype(np.float32)
    right = rng.standard_normal((inner, columns)).astype(np.float32)
    assert np.allclose(product(left, right), left @ right, atol=1e-3)
