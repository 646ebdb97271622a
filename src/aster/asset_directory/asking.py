"""What a server wants to know or have done in the middle of a call, and what it is told.

A question goes to a person; if the server can be asked again, everything it needs for that travels with the question,
and the answer may come days later. A model is asked only through whoever makes the call, who pays for it.
"""

from typing import Any, Literal, Protocol

from aster.contracts.messages import Message
from aster.contracts.model import Contract


class Wanted(Contract):
    """A server's question to a person: a form (`schema`) or a page to visit (`url`). `state` is what the server needs
    back, None if it waits with its own."""

    server_name: str
    message: str
    schema: dict[str, Any] | None = None
    url: str | None = None
    state: dict[str, Any] | None = None


class Told(Contract):
    """What a person answered."""

    action: Literal["accept", "decline", "cancel"]
    content: dict[str, Any] | None = None


class Sampling(Contract):
    """What a server wants a model asked."""

    messages: tuple[Message, ...]
    system: str = ""
    max_tokens: int = 1024
    temperature: float | None = None
    stop: tuple[str, ...] = ()


class Sampled(Contract):
    """What the model said."""

    text: str
    model: str
    stop_reason: str


class Caller(Protocol):
    """Who makes a call: what happens meanwhile is told to it. `task` tells callers apart."""

    @property
    def task(self) -> str: ...

    def progress(self, text: str) -> None: ...

    async def sample(self, wanted: Sampling) -> Sampled:
        """Ask a model; raises `EngineError` when that cannot be paid for or fails."""
        ...
