"""Whether a proposal may be learned: it rests on the person's own words, and is no order that memory must not give.

Everything here is decided by the words alone. A model that was talked into proposing something by a page it read
cannot talk its way past this: what the person did not say is not learned about them, and is never followed.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, cast

from aster.learning_centre.extraction import Proposal
from aster.learning_centre.material import Happening, Heard
from aster.memory.grounding import (
    SHARE,
    WHOLE,
    Source,
    bare,
    copied,
    made_up,
    quoted,
    share,
    taken_over,
    turned_round,
    untold,
)
from aster.memory.harm import harm
from aster.memory.keeping import SECRET_REFUSED, tells_secret
from aster.memory.memory import Memory

LABEL_WORDS: Final = 4
PLAIN_WORDS: Final = 2
"""Labels of so few words give nobody an order, and may be anybody's."""
SUBJECT_WORDS: Final = 8


class Place(NamedTuple):
    """Where the words of a proposal stand."""

    heard: Heard
    happening: Happening


def place(proposal: Proposal, said: Sequence[tuple[Heard, Happening]]) -> Place | None:
    """The message a quote stands in: the one that is named, if it does; else the first that has it."""
    named = said[proposal.message - 1 : proposal.message] if proposal.message > 0 else ()
    for heard, happening in (*named, *said):
        if quoted(proposal.quote, heard.text):
            return Place(heard, happening)
    return None


def objection(proposal: Proposal, at: Place, outside: Source, memory: Memory) -> str | None:
    """Why a proposal is refused; None when nothing speaks against it. `outside` is all that did not come from the
    person in anything the model was shown something of."""
    texts = " ".join(_texts(proposal.fields))
    everything = " ".join((proposal.quote, proposal.line, texts))
    if tells_secret(everything) or memory.secret_in(everything):
        return SECRET_REFUSED
    said = at.heard.text
    if copied(texts, outside, said):
        return "It is what a tool or a document said, not the person."
    if (proposal.standing or share(texts, said) < WHOLE) and (why := harm(texts)) is not None:
        return why
    if proposal.standing and bare(proposal.line, at.happening.words if proposal.kind == "lesson" else said):
        return "The person's words there do not tell it."
    if proposal.kind == "lesson":
        return _unfounded_lesson(proposal, at)
    if (why := _wordy(proposal, said, outside)) is not None:
        return why
    told = f"{said}\n{at.happening.answer}" if proposal.kind == "episode" else said
    if (word := made_up(proposal.line, told)) is not None:
        return f"The person did not say {word!r} there."
    if share(proposal.line, told) < (WHOLE if proposal.standing else SHARE):
        return "The person's words there do not tell it."
    if (word := taken_over(proposal.line, said, outside)) is not None:
        return f"{word!r} is a word of a tool or a document, not of the person."
    if proposal.kind != "episode" and turned_round(_statement(proposal), proposal.quote):
        return "It says the opposite of the person's words."
    return None


def _wordy(proposal: Proposal, said: str, outside: Source) -> str | None:
    """A record is shown with its labels, so they may not say what the record itself may not: they are short, and whom
    it is about is the person's own word."""
    labels, subject = _labels(proposal), str(proposal.fields.get("subject", "")).strip()
    for label in labels:
        length = len(_split(label))
        if length > LABEL_WORDS:
            return f"{label[:60]!r} is no label of a record, but says something."
        if length > PLAIN_WORDS and (word := taken_over(label, said, outside)) is not None:
            return f"{word!r} is a word of a tool or a document, not of the person."
    if len(_split(subject)) > SUBJECT_WORDS or share(subject, said) < SHARE:
        return f"{subject[:60]!r} is nothing that the person speaks of there."
    return None


def _labels(proposal: Proposal) -> list[str]:
    fields = proposal.fields
    attributes = cast("dict[str, Any]", fields.get("attributes", {}))
    named = [str(fields.get(name, "")) for name in ("category", "key", "predicate", "relation")]
    return [label for label in (*named, *attributes) if label]


def _split(label: str) -> list[str]:
    return re.findall(r"[^\W_]+", label)


def _unfounded_lesson(proposal: Proposal, at: Place) -> str | None:
    """A lesson is told by the person's words and by the names of the tools that were called, never by what was read."""
    told = at.happening.words
    for text in (proposal.fields["trigger"], proposal.fields["correct_pattern"], proposal.fields["mistake"]):
        if (word := made_up(text, told) or untold(text, told)) is not None:
            return f"{word!r} is neither the person's word nor the name of a tool."
    return None


def _statement(proposal: Proposal) -> str:
    """What a proposal says, with the word that may deny it: a trait's key, an edge's relation."""
    fields = proposal.fields
    if proposal.kind == "trait":
        return f"{fields['category']} {fields['key']} {fields['value']}".replace("_", " ")
    if proposal.kind == "edge":
        return f"{fields['relation']} {proposal.line}".replace("_", " ")
    return proposal.line


def _texts(fields: Mapping[str, Any]) -> Iterator[str]:
    """Everything that a record would say, its labels too."""
    for value in fields.values():
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            yield from cast("dict[str, Any]", value)
            yield from _texts(cast("dict[str, Any]", value))
