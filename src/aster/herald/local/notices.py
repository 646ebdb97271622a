"""What a call is told while its model is not ready: frames that stand before the answer in its own stream."""

from typing import Final

from aster.contracts.llm import CallWaiting
from aster.contracts.model import Contract, encode

WAITING: Final = "aster.waiting"
UNAVAILABLE: Final = "aster.unavailable"


class Unavailable(Contract):
    """There is no model to wait for; it is worth asking again after so many seconds."""

    text: str
    retry_after: float


def waiting(notice: CallWaiting) -> bytes:
    return _frame(WAITING, encode(notice))


def unavailable(notice: Unavailable) -> bytes:
    return _frame(UNAVAILABLE, encode(notice))


def _frame(event: str, data: bytes) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (event.encode(), data)
