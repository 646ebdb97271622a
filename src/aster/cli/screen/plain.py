"""Lines of text, for pipes, logs and terminals that only print: the answer as it comes, each call in two lines, no
thinking. Control characters are made visible here too: a pipe often ends on somebody's terminal."""

from typing import TextIO

from aster.cli.questions import put
from aster.cli.screen.cards import call_line, nested_line, result_line
from aster.cli.screen.clean import clean
from aster.cli.screen.diffs import change
from aster.client.transcript import Item, Note, Passage, ToolCard, Transcript
from aster.contracts.events import HitlRequest


class PlainSurface:
    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._mid_line = False

    def passage(self, item: Passage, shown: int) -> int:
        if item.thinking:
            return 0
        text = item.text
        self._write(clean(text[shown:]))
        if item.done:
            self._end_line()
        return len(text)

    def card(self, card: ToolCard) -> None:
        self.notice(nested_line(card) if card.depth else f"* {call_line(card)}\n  {result_line(card)}")

    def note(self, note: Note) -> None:
        self.notice(nested_line(note) if note.depth else note.text)

    def unfinished(self, items: list[Item], shown: int, transcript: Transcript) -> None:
        """A pipe has no place for what may still change."""

    def question(self, request: HitlRequest) -> None:
        lines = [f"  {line.sign} {line.text}" for line in change(request.tool or "", request.input)]
        self.notice("\n".join([put(request), *lines]))

    def said(self, text: str) -> None:
        self.notice(f"> {text}")

    def show(self, text: str) -> None:
        self.notice(text)

    def notice(self, text: str) -> None:
        self._end_line()
        self._write(clean(text) + "\n")

    def pause(self) -> None:
        self._end_line()

    def _end_line(self) -> None:
        if self._mid_line:
            self._write("\n")

    def _write(self, text: str) -> None:
        if text:
            self._out.write(text)
            self._out.flush()
            self._mid_line = not text.endswith("\n")
