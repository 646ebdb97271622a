"""The provider's own count of a prompt, where it offers one: the request of a call, asked for its length alone.

It costs nothing but a little time, so it is asked for where an estimate may be wrong by too much. A provider that does
not offer it is asked once.
"""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import msgspec

from aster.herald.endpoint import ProtocolName
from aster.herald.protocols.base import Encoded

_ANTHROPIC: Final = frozenset({"model", "messages", "system", "tools", "tool_choice", "thinking"})


class Counting(NamedTuple):
    """How a protocol is asked for a count, and the field of the answer that holds it."""

    ask: Callable[[Encoded], tuple[str, Any]]
    field: str


def question(protocol: ProtocolName, encoded: Encoded) -> tuple[str, bytes] | None:
    """Where to ask how long this request is, and with what; None where nobody answers that."""
    counting = _COUNTING.get(protocol)
    if counting is None:
        return None
    path, body = counting.ask(encoded)
    return path, msgspec.json.encode(body)


def answer(protocol: ProtocolName, body: bytes) -> int | None:
    """The count that was answered; None if this is none."""
    try:
        count = msgspec.json.decode(body, type=dict[str, Any]).get(_COUNTING[protocol].field)
    except msgspec.DecodeError:
        return None
    return count if isinstance(count, int) and count > 0 else None


def _anthropic(encoded: Encoded) -> tuple[str, Any]:
    fields = msgspec.json.decode(encoded.body, type=dict[str, msgspec.Raw])
    return f"{encoded.path}/count_tokens", {name: value for name, value in fields.items() if name in _ANTHROPIC}


def _gemini(encoded: Encoded) -> tuple[str, Any]:
    resource = encoded.path.split(":")[0]
    fields = msgspec.json.decode(encoded.body, type=dict[str, msgspec.Raw])
    return f"{resource}:countTokens", {"generateContentRequest": {"model": resource.lstrip("/"), **fields}}


_COUNTING: Final[dict[ProtocolName, Counting]] = {
    "anthropic": Counting(_anthropic, "input_tokens"),
    "gemini": Counting(_gemini, "totalTokens"),
}
