"""The terminal: Markdown rendered while it streams, thinking and output folded, a sign of life at the bottom.

What is settled is printed once and scrolls away like any other output; only a region at the bottom, never higher
than the window, is redrawn. Unfolded, the same things are shown whole.
"""

import time
from collections.abc import Callable

from rich.console import Console, ConsoleRenderable
from rich.markdown import Markdown
from rich.padding import Padding
from rich.segment import Segment
from rich.text import Text

from aster.cli.questions import put
from aster.cli.screen.blocks import settled
from aster.cli.screen.cards import call_line, nested_line, result_line
from aster.cli.screen.clean import clean
from aster.cli.screen.diffs import DiffLine, change, read_diff
from aster.cli.screen.region import Region
from aster.cli.screen.themes import THEMES, USUAL, Theme
from aster.cli.screen.todos import todo_lines
from aster.client.transcript import Item, Note, Passage, ToolCard, Transcript
from aster.contracts.events import HitlRequest

_SPIN = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_FOLDED_LINES = 4
_FOLDED_DIFF = 12
_UNFOLDED_LINES = 2_000
_NEWEST_CHARACTERS = 20_000
_FORMATTED_CHARACTERS = 8_000
"""Of an open block that is longer, only the end is drawn, as plain text: formatting all of it, many times a second,
would leave no time for the keys."""


class TerminalSurface:
    """`draft` says what is being typed while a turn runs; None where nothing can be. A
    `spectator` looks on and cancels nothing."""

    def __init__(self, console: Console, theme: Theme = THEMES[USUAL]) -> None:
        self._console = console
        self._region = Region(console)
        self._began: float | None = None
        self._theme: Theme | None = None
        self._look_at = 0
        self.unfolded = False
        self.spectator = False
        self.draft: Callable[[], str] | None = None
        self.wear(theme)

    def wear(self, theme: Theme) -> None:
        """Look like this from here on."""
        if self._theme is None:
            self._may_colour = not self._console.no_color
        else:
            self._console.pop_theme()
        self._theme = theme
        self._console.push_theme(theme.styles())
        self._console.no_color = theme.colourless or not self._may_colour

    @property
    def theme(self) -> Theme:
        assert self._theme is not None, "a surface wears a theme from its beginning"
        return self._theme

    def fold(self) -> None:
        """Unfold what is folded, or the other way round."""
        self.unfolded = not self.unfolded

    def passage(self, item: Passage, shown: int) -> int:
        text = item.text
        rest = text[shown:]
        if item.thinking and not self.unfolded:
            return self._folded_thought(item, shown)
        if item.done:
            size, self._look_at = len(rest), 0
        elif item.thinking:
            size = rest.rfind("\n") + 1
        else:
            size = self._settled(rest)
        piece = clean(rest[:size]).strip("\n")
        if piece:
            self._print(Text(piece, self.theme.thinking) if item.thinking else self._markdown(piece))
            if item.done or not item.thinking:
                self._print(Text())
        return shown + size

    def _settled(self, rest: str) -> int:
        """How much of it is whole. Looking reads all of it, so a long block is looked at less often."""
        if self._look_at * 8 // 9 <= len(rest) < self._look_at:
            return 0
        size = settled(rest)
        self._look_at = 0 if size else len(rest) * 9 // 8
        return size

    def _folded_thought(self, item: Passage, shown: int) -> int:
        if not item.done:
            return shown
        words = len(item.text[shown:].split())
        if words:
            self._print(Text(f"✻ thought, {words} words · Ctrl-O unfolds", self.theme.thinking))
        return len(item.text)

    def card(self, card: ToolCard) -> None:
        if card.depth:
            self._nested(card)
            return
        width = self._console.width - 4
        style = self.theme.good if card.error is None else self.theme.bad
        self._print(Text.assemble(("● ", style), (call_line(card, width), "bold")))
        changed = change(card.tool, card.input) if card.error is None else []
        if changed:
            self._diff(changed, _UNFOLDED_LINES if self.unfolded else _FOLDED_DIFF)
        if self.unfolded and card.output.strip() and not changed:
            self._output(card.output)
        else:
            quiet = self.theme.quiet
            self._print(Text(f"  ⎿ {result_line(card, width)}", quiet, no_wrap=True, overflow="ellipsis"))
        self._print(Text())

    def _output(self, output: str) -> None:
        if lines := read_diff(output):
            self._diff(lines, _UNFOLDED_LINES)
            return
        text = clean(output).rstrip("\n").split("\n")
        more = [f"… {len(text) - _UNFOLDED_LINES} more lines"] if len(text) > _UNFOLDED_LINES else []
        self._print(Padding(Text("\n".join(text[:_UNFOLDED_LINES] + more), self.theme.quiet), (0, 0, 0, 4)))

    def _diff(self, lines: list[DiffLine], most: int) -> None:
        styles = {"+": self.theme.added, "-": self.theme.removed, "@": self.theme.quiet}
        text = Text()
        for line in lines[:most]:
            text.append(f"{line.sign} {line.text}\n", styles.get(line.sign, ""))
        if len(lines) > most:
            text.append(f"… {len(lines) - most} more lines\n", self.theme.quiet)
        text.right_crop()
        self._print(Padding(text, (0, 0, 0, 4)))

    def _nested(self, item: ToolCard | Note) -> None:
        line = nested_line(item, self._console.width - 1)
        self._print(Text(line, self.theme.quiet, no_wrap=True, overflow="ellipsis"))

    def note(self, note: Note) -> None:
        if note.depth:
            self._nested(note)
            return
        self._print(Markdown(clean(note.text), style=self.theme.quiet, hyperlinks=False))
        self._print(Text())

    def question(self, request: HitlRequest) -> None:
        self._print(Text(put(request), self.theme.asked))
        if lines := change(request.tool or "", request.input):
            self._diff(lines, _UNFOLDED_LINES)

    def unfinished(self, items: list[Item], shown: int, transcript: Transcript) -> None:
        parts: list[ConsoleRenderable] = []
        for index, item in enumerate(items):
            match item:
                case Passage(thinking=thinking):
                    rest = item.text[shown if index == 0 else 0 :]
                    if rest.strip() and thinking:
                        parts.append(Text(self._newest(rest), self.theme.thinking))
                    elif len(rest) > _FORMATTED_CHARACTERS:
                        parts.append(Text(_end(rest, self._console.height)))
                    elif rest.strip():
                        parts.append(self._markdown(clean(rest)))
                case ToolCard():
                    parts += self._running(item)
                case _:
                    pass
        width = self._console.width - 4
        parts += [Text(line, self.theme.quiet, no_wrap=True) for line in todo_lines(transcript.todos, width)]
        parts.append(self._sign_of_life(items, transcript))
        self._redraw(parts)

    def _running(self, card: ToolCard) -> list[ConsoleRenderable]:
        line = Text(f"○ {call_line(card, self._console.width - 4)}", no_wrap=True)
        newest = self._newest(card.progress)
        return [line, Padding(Text(newest, self.theme.quiet), (0, 0, 0, 4))] if newest else [line]

    def _newest(self, text: str) -> str:
        """The end of something that grows: a few lines of it, or unfolded as much as a window may show."""
        return _end(text, self._console.height if self.unfolded else _FOLDED_LINES)

    def said(self, text: str) -> None:
        self._print(Text(f"> {clean(text)}", self.theme.said))
        self._print(Text())

    def notice(self, text: str) -> None:
        self._print(Text(clean(text), self.theme.quiet))

    def show(self, text: str) -> None:
        self._print(Text(clean(text)))

    def pause(self) -> None:
        self._region.erase()
        self._began = None

    def _markdown(self, text: str) -> Markdown:
        return Markdown(text, code_theme=self.theme.code, hyperlinks=False)

    def _sign_of_life(self, items: list[Item], transcript: Transcript) -> Text:
        now = time.monotonic()
        self._began = self._began or now
        doing = clean(transcript.waiting) or "working"
        if any(isinstance(item, ToolCard) for item in items):
            doing = "running"
        elif self.spectator and not transcript.running:
            doing = "nothing runs"
        spin = _SPIN[int(now * 12) % len(_SPIN)]
        line = f"{spin} {doing} · {int(now - self._began)} s · Ctrl-C {'leaves' if self.spectator else 'cancels'}"
        if self.draft is not None:
            line += f" · Ctrl-O {'folds' if self.unfolded else 'unfolds'} · Enter steers · Tab queues"
        return Text(line, self.theme.quiet, no_wrap=True)

    def _draft_line(self) -> Text | None:
        if self.draft is None:
            return None
        room, typed = max(self._console.width - 4, 10), self.draft()
        flat = clean(typed).replace("\n", "⏎").replace("\t", " ")
        return Text.assemble(("› ", self.theme.said), flat[-room:], no_wrap=True)

    def _print(self, renderable: ConsoleRenderable) -> None:
        """Print for good, above the region that is redrawn."""
        self._region.print(renderable)

    def _redraw(self, parts: list[ConsoleRenderable]) -> None:
        draft = self._draft_line()
        height = max(self._console.height - 2, 2)
        options = self._console.options.update(width=max(self._console.width - 1, 1))
        lines: list[list[Segment]] = []
        for part in (*parts, *([draft] if draft is not None else [])):
            lines += self._console.render_lines(part, options, pad=False)
        self._region.draw(lines[-height:])


def _end(text: str, lines: int) -> str:
    """The last lines of a text."""
    return "\n".join(clean(text[-_NEWEST_CHARACTERS:]).rstrip("\n").split("\n")[-lines:])
