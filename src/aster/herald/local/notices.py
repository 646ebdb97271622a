"""What a call is told while its model is not ready: frames that stand before the answer in its own stream."""

from typing import Final

from aster.contracts.llm import CallWaiting
from aster.contracts.model import encode

WAITING: Final = "aster.waiting"
UNAVAILABLE: Final = "aster.unavailable"


def waiting(notice: CallWaiting) -> bytes:
    return _frame(WAITING, encode(notice))


def unavailable(sentence: str) -> bytes:
    return _frame(UNAVAILABLE, " ".join(sentence.split()).encode())


def _frame(event: str, data: bytes) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (event.encode(), data)
