"""How often turns may have a question read by the model."""

from aster.memory.embeddings.allowance import Allowance


def test_so_many_at_once_and_so_many_a_second_after_that() -> None:
    now = [0.0]
    allowance = Allowance(2.0, 3.0, lambda: now[0])
    assert [allowance.take() for _ in range(4)] == [True, True, True, False]
    now[0] = 0.5
    assert [allowance.take() for _ in range(2)] == [True, False]
    now[0] = 60.0
    assert [allowance.take() for _ in range(4)] == [True, True, True, False]
