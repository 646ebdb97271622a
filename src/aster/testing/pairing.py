"""The rule every provider enforces on a history: each tool call has exactly one result, directly after it.

An engine that breaks the rule works with a lenient fake and fails in production, so this server refuses
what the providers refuse.
"""

from collections.abc import Sequence

from msgspec import Struct

from aster.testing.conversation import Answered, Entry, Returned


class Refusals(Struct, frozen=True):
    """How a provider words its refusals; `{ids}` are the calls in question."""

    empty: str
    unanswered: str
    orphaned: str


def objection(entries: Sequence[Entry], words: Refusals) -> str | None:
    """Why this history is refused, or None."""
    if not entries:
        return words.empty
    open_calls: list[str] = []
    for entry in entries:
        if isinstance(entry, Returned):
            if entry.call_id not in open_calls:
                return words.orphaned.format(ids=entry.call_id)
            open_calls.remove(entry.call_id)
            continue
        if open_calls:
            break
        if isinstance(entry, Answered):
            open_calls = [call.id for call in entry.calls]
    return words.unanswered.format(ids=", ".join(open_calls)) if open_calls else None
