"""The terminal: Markdown rendered while it streams, thinking dimmed, calls folded, a sign of life at the bottom.

What is settled is printed once and scrolls away like any other output; only a region at the bottom, never higher
than the window, is redrawn.
"""

import time

from rich.console import Console, ConsoleRenderable, Group
from rich.live import Live
from rich.markdown import Markdown
from rich.padding import Padding
from rich.segment import Segment, Segments
from rich.text import Text

from aster.cli.screen.blocks import settled
from aster.cli.screen.cards import call_line, nested_line, result_line
from aster.cli.screen.clean import clean
from aster.client.transcript import Item, Note, Passage, ToolCard

_SPIN = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_THINKING = "dim italic"


class TerminalSurface:
    def __init__(self, console: Console) -> None:
        self._console = console
        self._live: Live | None = None
        self._began: float | None = None

    def passage(self, item: Passage, shown: int) -> int:
        text = item.text
        rest = text[shown:]
        if item.done:
            size = len(rest)
        elif item.thinking:
            size = rest.rfind("\n") + 1
        else:
            size = settled(rest)
        piece = clean(rest[:size]).strip("\n")
        if piece:
            self._print(Text(piece, _THINKING) if item.thinking else Markdown(piece))
            if item.done or not item.thinking:
                self._print(Text())
        return shown + size

    def card(self, card: ToolCard) -> None:
        if card.depth:
            self._nested(card)
            return
        width = self._console.width - 4
        sign, style = ("●", "green") if card.error is None else ("●", "red")
        self._print(Text.assemble((f"{sign} ", style), (call_line(card, width), "bold")))
        self._print(Text(f"  ⎿ {result_line(card, width)}", "dim", no_wrap=True, overflow="ellipsis"))
        self._print(Text())

    def _nested(self, item: ToolCard | Note) -> None:
        line = nested_line(item, self._console.width - 1)
        self._print(Text(line, "dim", no_wrap=True, overflow="ellipsis"))

    def note(self, note: Note) -> None:
        if note.depth:
            self._nested(note)
            return
        self._print(Markdown(clean(note.text), style="dim"))
        self._print(Text())

    def unfinished(self, items: list[Item], shown: int, waiting: str) -> None:
        parts: list[ConsoleRenderable] = []
        for index, item in enumerate(items):
            match item:
                case Passage(thinking=thinking):
                    rest = clean(item.text[shown if index == 0 else 0 :])
                    if rest.strip():
                        parts.append(Text(rest, _THINKING) if thinking else Markdown(rest))
                case ToolCard():
                    parts.append(Text(f"○ {call_line(item, self._console.width - 4)}", no_wrap=True))
                case _:
                    pass
        parts.append(self._sign_of_life(items, waiting))
        self._redraw(parts)

    def said(self, text: str) -> None:
        self._print(Text(f"> {clean(text)}", "bold cyan"))
        self._print(Text())

    def notice(self, text: str) -> None:
        self._print(Text(clean(text), "dim"))

    def show(self, text: str) -> None:
        self._print(Text(clean(text)))

    def pause(self) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None
        self._began = None

    def _sign_of_life(self, items: list[Item], waiting: str) -> Text:
        now = time.monotonic()
        self._began = self._began or now
        doing = "running" if any(isinstance(item, ToolCard) for item in items) else clean(waiting) or "working"
        spin = _SPIN[int(now * 12) % len(_SPIN)]
        return Text(f"{spin} {doing} · {int(now - self._began)} s · Ctrl-C cancels", "dim", no_wrap=True)

    def _print(self, renderable: ConsoleRenderable) -> None:
        """Print for good, above the region that is redrawn."""
        self._console.print(renderable)

    def _redraw(self, parts: list[ConsoleRenderable]) -> None:
        height = max(self._console.height - 2, 2)
        lines = self._console.render_lines(Padding(Group(*parts), 0), pad=False)[-height:]
        flat: list[Segment] = []
        for line in lines:
            flat += [*line, Segment.line()]
        region = Segments(flat[:-1])
        if self._live is None:
            self._live = Live(region, console=self._console, transient=True, auto_refresh=False)
            self._live.start(refresh=True)
        else:
            self._live.update(region, refresh=True)
