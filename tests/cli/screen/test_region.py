"""What is drawn at the bottom is drawn over, and what is printed above it stays, at any width."""

import io

from rich.console import Console
from rich.segment import Segment
from rich.text import Text

from aster.cli.screen.region import Region
from tests.cli.glass import Glass


class Window:
    """A region in a window that can be made narrower."""

    def __init__(self, width: int) -> None:
        self._out = io.StringIO()
        self._console = Console(file=self._out, force_terminal=True, width=width, height=20)
        self._glass = Glass(width)
        self._read = 0
        self.region = Region(self._console)

    def draw(self, *lines: str) -> None:
        self.region.draw([[Segment(line)] for line in lines])

    def resize(self, width: int) -> None:
        self.seen()
        self._console.width = width
        self._glass.resize(width)

    def seen(self) -> list[str]:
        written = self._out.getvalue()
        self._glass.write(written[self._read :])
        self._read = len(written)
        return self._glass.seen()


def test_drawing_again_leaves_one_drawing() -> None:
    window = Window(40)
    window.draw("one", "two", "three")
    window.draw("only")
    assert window.seen() == ["only"]
    window.draw("a", "b")
    assert window.seen() == ["a", "b"]


def test_what_is_printed_stays_above() -> None:
    window = Window(40)
    window.draw("working", "> typed")
    window.region.print(Text("for good"))
    window.draw("working still", "> typed")
    assert window.seen() == ["for good", "working still", "> typed"]
    window.region.erase()
    assert window.seen() == ["for good"]


def test_a_narrower_window_loses_nothing_and_keeps_nothing_twice() -> None:
    window = Window(40)
    window.region.print(Text("for good"))
    window.draw("x" * 35, "y" * 12, "z" * 39)
    window.resize(10)
    window.draw("a", "b")
    assert window.seen() == ["for good", "a", "b"]
    window.resize(30)
    window.draw("c")
    assert window.seen() == ["for good", "c"]
