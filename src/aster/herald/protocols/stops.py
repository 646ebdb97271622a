"""Stop sequences for a wire that has none: the text ends before the one that is complete first.

What might still become one is held back, so that no part of a stop sequence is ever shown.
"""

from collections.abc import Sequence


class StopText:
    """The text of one answer, let through up to the stop sequence that is complete first."""

    def __init__(self, sequences: Sequence[str]) -> None:
        self.stopped = False
        self._sequences: list[str] = [sequence for sequence in sequences if sequence]
        self._held: str = ""

    def feed(self, text: str) -> str:
        """What may be shown now."""
        if not self._sequences or self.stopped:
            return "" if self.stopped else text
        text = self._held + text
        self._held = ""
        found = [(at + len(stop), at) for stop in self._sequences if (at := text.find(stop)) >= 0]
        if found:
            self.stopped = True
            return text[: min(found)[1]]
        keep = max(_overlap(text, sequence) for sequence in self._sequences)
        self._held = text[len(text) - keep :]
        return text[: len(text) - keep]

    def flush(self) -> str:
        """What was held back and turned out to be only text."""
        held, self._held = self._held, ""
        return held


def _overlap(text: str, sequence: str) -> int:
    """How much of the end of the text is the beginning of the sequence."""
    most = min(len(text), len(sequence) - 1)
    return next((size for size in range(most, 0, -1) if text.endswith(sequence[:size])), 0)
