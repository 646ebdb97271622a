"""A screen shows a transcript as it grows: what is finished once and for good, what is not as it stands.

It looks at the transcript, never at single events, so a burst of events costs one look. What is printed cannot be
unprinted: when a `recovery` takes back something already shown, the screen says so.
"""

from typing import Protocol

from aster.client.transcript import Item, Passage, Said, ToolCard, Transcript

TAKEN_BACK = "(interrupted: the answer so far no longer counts and begins again)"


class Surface(Protocol):
    """How each thing looks."""

    def passage(self, item: Passage, shown: int) -> int:
        """Show more of a passage of which `shown` characters are out; returns how many are now."""
        ...

    def card(self, card: ToolCard) -> None:
        """A call that is over."""
        ...

    def unfinished(self, items: list[Item], shown: int) -> None:
        """What is under way and may still change; of the first item `shown` characters are out already."""
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
        self._next = 0
        self._shown = 0

    def begin(self, transcript: Transcript) -> None:
        """Show what comes from here on; what the transcript holds already is not shown again."""
        self._next, self._shown = len(transcript.items), 0

    def catch_up(self, transcript: Transcript, most: int) -> None:
        """Show the newest items of a transcript that was read as a whole, at most so many ended ones."""
        running = transcript.turn_id if transcript.running else None
        ended = [item for item in transcript.items if item.turn_id != running]
        for item in ended[-most:]:
            if isinstance(item, Said):
                self.surface.said(item.text)
            else:
                self._shown = 0
                self._finish(item)
        self._next, self._shown = len(ended), 0

    def update(self, transcript: Transcript) -> None:
        """Show what is new."""
        items = transcript.items
        if self._next > len(items) or (self._next == len(items) and self._shown):
            self.begin(transcript)
            self.surface.notice(TAKEN_BACK)
        while self._next < len(items) and self._finish(items[self._next]):
            self._next, self._shown = self._next + 1, 0
        self.surface.unfinished(items[self._next :], self._shown)

    def end(self, transcript: Transcript) -> None:
        """The turn is over: show the rest, whatever became of it."""
        self.update(transcript)
        for item in transcript.items[self._next :]:
            if isinstance(item, ToolCard):
                self.surface.card(item)
        self.begin(transcript)
        self.surface.pause()

    def _finish(self, item: Item) -> bool:
        """Show what can be shown of an item for good; says whether that is all of it."""
        match item:
            case Said():
                return True
            case Passage():
                self._shown = self.surface.passage(item, self._shown)
                return item.done
            case ToolCard():
                over = item.status in ("done", "failed")
                if over:
                    self.surface.card(item)
                return over
