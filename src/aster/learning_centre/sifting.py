"""Sifting: of what a model proposes, what becomes an item of a changeset, and what is refused and why.

Everything that was proposed is in the changeset, so that a person sees what was kept from their memory too. A record
is only touched if the model was shown it, and what was said later stays.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from aster.brain.memory_kinds import KINDS
from aster.brain.memory_records import MemoryRow
from aster.brain.memory_words import words
from aster.contracts.errors import EngineError
from aster.contracts.learning import ChangeItem
from aster.learning_centre import grounding, soul
from aster.learning_centre.extraction import Proposal
from aster.learning_centre.material import Happening, Heard
from aster.learning_centre.workbench import draft_of
from aster.memory.grounding import Source, related
from aster.memory.memory import Memory
from aster.memory.profile import placed

SURE: Final = 0.9
UNPROVEN: Final = 0.6
_THEMSELVES: Final = frozenset({"i", "me", "myself", "user", "the user", "person", "the person", "you"})
_STANDING: Final = frozenset({"rule", "heuristic"})
_BELIEFS: Final = frozenset({"fact", "trait", "edge"})


class Sifting:
    """Made for one reply. `known` are the records that were shown, `said` the numbered messages, `souls` every version
    of the soul, the newest first, `tried` the triggers of lessons that are or were on trial."""

    def __init__(
        self,
        memory: Memory,
        user_id: str,
        known: Mapping[str, MemoryRow],
        said: Sequence[tuple[Heard, Happening]],
        souls: Sequence[MemoryRow],
        tried: Collection[str] = (),
    ) -> None:
        self._memory = memory
        self._user_id = user_id
        self._known = known
        self._said = said
        self._outside = Source.of("\n".join({id(one): one.outside for _, one in said}.values()))
        self._soul = dict(souls[0].fields)
        self._tried = {_same(trigger) for trigger in tried}
        self._seen: set[tuple[str, bytes | tuple[str, ...]]] = set()

    def items(self, proposals: Sequence[Proposal]) -> tuple[ChangeItem, ...]:
        """An item for each proposal, in the order in which it was said."""
        placed = [(proposal, grounding.place(proposal, self._said)) for proposal in proposals]
        placed.sort(key=lambda one: 0 if one[1] is None else one[1].heard.at)
        return tuple(self._item(place, *one) for place, one in enumerate(placed))

    def _item(self, number: int, proposal: Proposal, at: grounding.Place | None) -> ChangeItem:
        item = ChangeItem(
            place=number,
            action=proposal.action,
            kind=proposal.kind,
            fields=self._fields(proposal),
            quote=proposal.quote,
            confidence=UNPROVEN if proposal.action == "trial" else SURE,
        )
        if at is None:
            return _refused(item, "The words it rests on are in no message of the person.")
        heard = at.heard
        item = replace(
            item,
            task_id=heard.task_id,
            first_seq=heard.first_seq,
            last_seq=heard.last_seq,
            event_at=heard.at,
            valid_from=heard.at,
        )
        why = grounding.objection(proposal, at, self._outside, self._memory)
        if why is None and proposal.corrects:
            item, why = self._correcting(item, proposal)
        if why is not None:
            return _refused(item, why)
        return self._fresh(item, proposal)

    def _fields(self, proposal: Proposal) -> dict[str, Any]:
        subject = proposal.fields.get("subject")
        if isinstance(subject, str) and subject.casefold() in _THEMSELVES:
            return {**proposal.fields, "subject": "user"}
        return proposal.fields

    def _correcting(self, item: ChangeItem, proposal: Proposal) -> tuple[ChangeItem, str | None]:
        old = self._known.get(proposal.corrects)
        if old is None:
            return item, "It would change a record that the model was not shown."
        if item.kind not in _BELIEFS or old.kind not in _BELIEFS:
            return item, f"A {item.kind} does not take the place of a {old.kind}."
        if old.fields.get("type") in _STANDING and not proposal.standing:
            return item, f"A {old.fields['type']} is changed by another one, not by something said in passing."
        if not self._same_matter(item, old):
            return item, "It is about something else than the record it would correct."
        if item.valid_from is not None and old.valid_from > item.valid_from:
            return item, "Something that was said later stands."
        return replace(item, sources=(old.id,), replaced={old.id: old.text}), None

    def _same_matter(self, item: ChangeItem, old: MemoryRow) -> bool:
        if item.kind == old.kind == "trait":
            given = placed(item.fields["category"], item.fields["key"])
            if given == (old.fields["category"], old.fields["key"]):
                return True
        return related(" ".join(str(value) for value in item.fields.values()), old.text)

    def _fresh(self, item: ChangeItem, proposal: Proposal) -> ChangeItem:
        """The item, unless the same is known, was proposed before in this reply, or has been tried."""
        if item.kind == "soul":
            return self._with_soul(item, proposal)
        try:
            row = self._memory.row(self._user_id, draft_of(item), item.event_at or 0)
        except EngineError as error:
            return _refused(item, error.message)
        marks = self._marks(row)
        if marks & self._seen:
            return _refused(item, "It is said twice.")
        same = next((one for one in self._known.values() if marks & self._marks(one)), None)
        if same is not None and same.id not in item.sources:
            return _refused(item, f"It is known already as {same.id}.")
        if item.kind == "lesson" and _same(row.fields["trigger"]) in self._tried:
            return _refused(item, "A lesson for this is or was on trial.")
        self._seen |= marks
        return replace(item, replaced={**self._in_place_of(row), **item.replaced})

    def _with_soul(self, item: ChangeItem, proposal: Proposal) -> ChangeItem:
        made = soul.with_line(self._soul, **proposal.fields)
        if made is None:
            return _refused(item, "The soul says so already.")
        self._soul = made
        return replace(item, fields=made, replaced={})

    def _in_place_of(self, row: MemoryRow) -> dict[str, str]:
        """What is known that holds the place this record would take."""
        slot = row.about.slot(row.fields)
        holding = (one for one in self._known.values() if one.kind == row.kind and slot is not None)
        return {one.id: one.text for one in holding if one.about.slot(one.fields) == slot}

    def _marks(self, row: MemoryRow) -> set[tuple[str, bytes | tuple[str, ...]]]:
        """By what two records are seen to be the same."""
        kind = KINDS[row.kind]
        key = kind.key(row.fields, row.task_id)
        told: set[tuple[str, bytes | tuple[str, ...]]] = {(row.kind, tuple(sorted(set(words(row.text)))))}
        return told if key is None else {*told, (row.kind, key)}


def _same(text: str) -> tuple[str, ...]:
    return tuple(sorted(set(words(text))))


def _refused(item: ChangeItem, why: str) -> ChangeItem:
    return replace(item, status="refused", reason=why)
