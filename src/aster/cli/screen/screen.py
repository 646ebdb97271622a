"""A screen shows a transcript as it grows: what is finished once and for good, what is not as it stands.

It looks at the transcript, never at single events, so a burst of events costs one look. What is printed cannot be
unprinted: when a `recovery` takes back something already shown, the screen says so.
"""

from itertools import takewhile
from typing import Protocol

from aster.client.transcript import Item, Note, Passage, Said, ToolCard, Transcript
from aster.contracts.events import HitlRequest

TAKEN_BACK = "(interrupted: the answer so far no longer counts and begins again)"


class Surface(Protocol):
    """How each thing looks."""

    def passage(self, item: Passage, shown: int) -> int:
        """Show more of a passage of which `shown` characters are out; returns how many are now."""
        ...

    def card(self, card: ToolCard) -> None:
        """A call that is over."""
        ...

    def note(self, note: Note) -> None:
        """What the engine says beside the answer."""
        ...

    def unfinished(self, items: list[Item], shown: int, transcript: Transcript) -> None:
        """What is under way and may still change; of the first item `shown` characters are out already."""
        ...

    def question(self, request: HitlRequest) -> None:
        """What a person is asked, with all that the answer would set off."""
        ...

    def said(self, text: str) -> None:
        """What a person said earlier."""
        ...

    def notice(self, text: str) -> None:
        """Something the program itself has to say, in passing."""
        ...

    def show(self, text: str) -> None:
        """Something the program was asked for."""
        ...

    def pause(self) -> None:
        """Leave the terminal to somebody else until the next call."""
        ...


class Screen:
    """The order of things, on some surface."""

    def __init__(self, surface: Surface) -> None:
        self.surface = surface
        self._first = 0
        self._finished: list[Item] = []
        self._current: Item | None = None
        self._shown = 0
        self._typed = 0

    def begin(self, transcript: Transcript, *, typed: int = 0) -> None:
        """Show what comes from here on; what the transcript holds already is not shown again, nor are the first
        `typed` messages that come, which stand there because they were typed there."""
        self._start_at(len(transcript.items))
        self._typed = typed

    def catch_up(self, transcript: Transcript, most: int) -> None:
        """Show the newest items of a transcript that was read as a whole, at most so many ended ones."""
        running = transcript.turn_id if transcript.running else None
        ended = [item for item in transcript.items if item.turn_id != running]
        self._typed = 0
        for item in ended[-most:]:
            self._shown = 0
            self._finish(item)
        self._start_at(len(ended))

    def update(self, transcript: Transcript) -> None:
        """Show what is new."""
        items = transcript.items[self._first :]
        if self._take_back(items):
            self.surface.notice(TAKEN_BACK)
        for item in items[len(self._finished) :]:
            self._current = item
            if not self._finish(item):
                break
            self._finished.append(item)
            self._current, self._shown = None, 0
        self.surface.unfinished(items[len(self._finished) :], self._shown, transcript)

    def end(self, transcript: Transcript) -> None:
        """The turn is over: show the rest, whatever became of it."""
        self.update(transcript)
        for item in transcript.items[self._first + len(self._finished) :]:
            if isinstance(item, ToolCard):
                self.surface.card(item)
        self.begin(transcript)
        self.surface.pause()

    def _start_at(self, index: int) -> None:
        self._first, self._finished, self._current, self._shown = index, [], None, 0

    def _take_back(self, items: list[Item]) -> bool:
        """Forget what is no longer in the transcript; says whether any of it had been printed."""
        kept = sum(1 for _ in takewhile(lambda pair: pair[0] is pair[1], zip(self._finished, items, strict=False)))
        lost = [item for item in self._finished[kept:] if not isinstance(item, Said | Note)]
        following = items[kept] if kept < len(items) else None
        if kept == len(self._finished) and following is self._current:
            return False
        printed = bool(lost) or self._shown > 0
        self._finished, self._current, self._shown = self._finished[:kept], None, 0
        return printed

    def _finish(self, item: Item) -> bool:
        """Show what can be shown of an item for good; says whether that is all of it."""
        match item:
            case Said():
                if self._typed:
                    self._typed -= 1
                else:
                    self.surface.said(item.text)
                return True
            case Note():
                self.surface.note(item)
                return True
            case Passage():
                self._shown = self.surface.passage(item, self._shown)
                return item.done
            case ToolCard():
                over = item.status in ("done", "failed")
                if over:
                    self.surface.card(item)
                return over
