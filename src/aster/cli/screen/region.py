"""The lines at the bottom of a terminal that are drawn again and again, under what is printed for good.

Drawing begins where the last drawing began, also when the window has become narrower since and the terminal has
folded what stood there. Everything goes out in one write, so that nothing flickers.
"""

from rich.console import Console, ConsoleRenderable
from rich.segment import Segment, Segments

_CLEAR = "\x1b[2K"
_UP = "\x1b[1A"


class Region:
    def __init__(self, console: Console) -> None:
        self._console = console
        self._widths: list[int] = []

    def draw(self, lines: list[list[Segment]]) -> None:
        """Put these lines in the place of those drawn before; the cursor stays at the end of the last."""
        flat: list[Segment] = []
        for line in lines:
            flat += [*line, Segment.line()]
        self._write(self._erasing() + self._rendered(Segments(flat[:-1]), end=""))
        self._widths = [Segment.get_line_length(line) for line in lines]

    def print(self, renderable: ConsoleRenderable) -> None:
        """Print for good where the region was; it is drawn under it next time."""
        text = self._rendered(renderable)
        self._write(self._erasing() + text)
        self._widths = []

    def erase(self) -> None:
        self._write(self._erasing())
        self._widths = []

    def _erasing(self) -> str:
        if not self._widths:
            return ""
        width = max(self._console.width, 1)
        rows = sum(max(-(-length // width), 1) for length in self._widths)
        return f"\r{_CLEAR}" + f"{_UP}{_CLEAR}" * (rows - 1)

    def _rendered(self, renderable: ConsoleRenderable, end: str = "\n") -> str:
        with self._console.capture() as captured:
            self._console.print(renderable, end=end)
        return captured.get()

    def _write(self, text: str) -> None:
        if text:
            self._console.file.write(text)
            self._console.file.flush()
