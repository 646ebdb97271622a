"""What comes back to a command never contains what was added to its request: a host that repeats a header would
otherwise give the secret away. The length stays, so that the answer's framing does."""

from collections.abc import Sequence


class Mask:
    """Hides values in a stream of pieces, also where one is split between two."""

    def __init__(self, values: Sequence[bytes]) -> None:
        self._values = values
        self._keep = max(map(len, values), default=1) - 1
        self._rest = b""

    def feed(self, piece: bytes) -> bytes:
        data = self._hidden(self._rest + piece)
        cut = max(len(data) - self._keep, 0)
        self._rest = data[cut:]
        return data[:cut]

    def finish(self) -> bytes:
        rest, self._rest = self._rest, b""
        return rest

    def whole(self, data: bytes) -> bytes:
        return self._hidden(data)

    def _hidden(self, data: bytes) -> bytes:
        for value in self._values:
            data = data.replace(value, b"*" * len(value))
        return data
