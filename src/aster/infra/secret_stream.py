"""Text that comes in pieces, cleaned of secrets that are cut by a piece's end.

A piece is passed on at once unless its end could be the beginning of a secret; only that end is held back, within
a bound. The first characters of a secret may be out before it is known to be one: three of a registered value, of
what only looks like a secret the part that all of its kind share.
"""

import re
from typing import Final

from aster.infra.secret_shapes import LONGEST_BEGIN, PRIVATE_KEY, Found
from aster.infra.secrets import ANCHOR, KNOWN, Secrets, Where

MOST_HELD: Final = 4_096
MOST_HELD_KEY: Final = 16_384

_OPEN_LINE = re.compile(r"[^\n]*\Z")
_OPEN_KEY = re.compile(r"-----BEGIN [A-Z0-9 ]*(?:PRIVATE KEY[A-Za-z0-9+/=\s\\:,.()-]*)?\Z")


class SecretStream:
    """`feed` pieces, `finish` at the end; the texts they return are what may be shown.

    What is registered while a stream is open counts from the next stream on.
    """

    __slots__ = ("_context", "_may_be_in", "_secrets", "_shapes", "_shown", "_tail", "_where")

    def __init__(self, secrets: Secrets, where: Where, *, shapes: bool = False) -> None:
        self._secrets = secrets
        self._where: Where = where
        self._shapes = shapes
        self._context = LONGEST_BEGIN if shapes else ANCHOR - 1
        anchors = secrets.anchors(shapes=shapes)
        self._may_be_in = None if anchors is None else anchors.may_be_in
        self._tail = ""
        self._shown = 0
        """So many characters of the tail are out already; the rest is held back."""

    def feed(self, piece: str) -> str:
        may_be_in = self._may_be_in
        if may_be_in is None:
            return piece
        tail = self._tail
        window = tail + piece
        if self._shown == len(tail) and not may_be_in(window):
            self._tail = tail = window[-self._context :]
            self._shown = len(tail)
            return piece
        return self._sift(window, last=False)

    def finish(self) -> str:
        """What was held back; the stream may be used for another text then."""
        rest = self._sift(self._tail, last=True) if self._shown < len(self._tail) else ""
        self._tail, self._shown = "", 0
        return rest

    def _sift(self, window: str, *, last: bool) -> str:
        out: list[str] = []
        done, shown, hold = 0, self._shown, len(window)
        for secret, mark in self._secrets.found(window, shapes=self._shapes):
            if not last and _grows(window, secret):
                hold = secret.start
                break
            out += (window[max(done, shown) : max(secret.start, shown)], mark)
            done = secret.end
            self._secrets.counts[self._where, secret.kind] += 1
        if hold == len(window) and not last:
            hold = self._open_from(window, done)
        out.append(window[max(done, shown) : max(hold, shown)])
        self._keep(window, done, hold)
        return "".join(out)

    def _open_from(self, window: str, done: int) -> int:
        """Where the first thing begins that may turn out to be a secret when more comes."""
        anchors = self._secrets.anchors(shapes=self._shapes)
        hit = anchors.next(window, done) if anchors is not None else None
        while hit is not None and anchors is not None:
            place = hit.start()
            if self._secrets.beginning(window[place:]) or (self._shapes and _may_go_on(window, place)):
                return place
            hit = anchors.next(window, place + 1)
        return len(window)

    def _keep(self, window: str, done: int, hold: int) -> None:
        out = max(hold, done, min(self._shown, len(window)))
        start = max(done, min(hold, len(window)) - self._context, 0)
        self._tail, self._shown = window[start:], out - start


def _grows(window: str, secret: Found) -> bool:
    """Whether more of it may come: a shape that reaches the end, or a key whose last line is not there yet."""
    if secret.kind == KNOWN or len(window) - secret.start > MOST_HELD_KEY:
        return False
    if secret.kind == PRIVATE_KEY and not window.endswith("-----", 0, secret.end):
        return _OPEN_KEY.match(window, secret.start) is not None
    return secret.end == len(window)


def _may_go_on(window: str, place: int) -> bool:
    size = len(window) - place
    if size <= MOST_HELD and _OPEN_LINE.match(window, place) is not None:
        return True
    return size <= MOST_HELD_KEY and _OPEN_KEY.match(window, place) is not None
