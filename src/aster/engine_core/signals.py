"""Signals of the loop's control flow. They derive from BaseException, so that nobody swallows them by accident."""


class Ended(BaseException):
    """The turn is over, for this reason."""

    def __init__(self, stop_reason: str) -> None:
        super().__init__(stop_reason)
        self.stop_reason = stop_reason


class Repeating(BaseException):
    """The model says this over and over; its call was cut off."""

    def __init__(self, passage: str) -> None:
        super().__init__(passage)
        self.passage = passage


class Suspended(BaseException):
    """The turn waits for a person; everything it needs is on the thread."""


class Lost(BaseException):
    """Someone else ended or took over this turn; whatever is written now would not count."""


class Yielded(BaseException):
    """The engine is going away; the turn stands at a safe boundary and is taken up by the next start."""
