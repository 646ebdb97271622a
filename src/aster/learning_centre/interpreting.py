"""What a model proposed in a dream becomes items of a changeset, each checked on its own; what a check does not let
pass stays in the changeset as refused, with the reason.

A model may only touch records that it was shown in that very call, and each record once.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

from msgspec.structs import replace

from aster.brain.memory_records import MemoryRow
from aster.contracts.learning import ChangeItem, ItemAction
from aster.learning_centre import narrative, replies
from aster.learning_centre.clusters import alike
from aster.learning_centre.contradictions import resolved
from aster.learning_centre.merging import LEAST_FREED, flaws, freed
from aster.learning_centre.statements import content
from aster.memory.grounding import Source, bare, copied, share, taken_over
from aster.memory.harm import harm
from aster.memory.keeping import SECRET_REFUSED, tells_secret
from aster.memory.memory import Memory

MOST_EACH: Final = 40
MOST_HEURISTICS: Final = 3
FOLLOWS: Final = 0.5
"""Of a heuristic's telling words, so many have to be in the records it comes from."""
TRIED: Final = 0.7
"""A heuristic with so much in common with one that was tried is not tried again."""
UNSHOWN: Final = "it names a record that was not shown: {}"
NOT_SAID: Final = "it says what nobody but a page, a file or a tool has said"
TWICE: Final = "a record can be changed once only: {}"


@dataclass(slots=True)
class Dreamt:
    """What a model was shown, and what its proposals may be held against: `groups` of records that are alike, all
    records by id, the ids of those that rest on a person's own words, the soul, what was on trial already, and the
    records that a person did not want to be merged."""

    groups: Sequence[Sequence[MemoryRow]]
    shown: Mapping[str, MemoryRow]
    grounded: Collection[str]
    soul: MemoryRow
    tried: Sequence[str]
    declined: Collection[frozenset[str]]
    memory: Memory
    now: int
    _touched: set[str] = field(default_factory=set[str])

    def items(self, data: dict[str, Any] | None) -> list[ChangeItem]:
        """The items of a reply, without their places."""
        return [
            *(self._contradiction(row) for row in replies.rows(data, "contradictions", MOST_EACH)),
            *self._merges(replies.rows(data, "consolidations", MOST_EACH)),
            *self._heuristics(replies.rows(data, "heuristics", MOST_EACH)),
            *self._narrative(replies.rows(data, "soul", MOST_EACH)),
        ]

    def _contradiction(self, row: dict[str, Any]) -> ChangeItem:
        """The record that stays, written once more as it is: it takes the place of the one that ends."""
        ids = (replies.words(row, "keep", 128), replies.words(row, "end", 128))
        why = replies.words(row, "reason", 500)
        if problem := self._untouchable(ids):
            return _refused("write", "fact", {"content": why}, ids, problem)
        found = resolved(self.shown[ids[0]], self.shown[ids[1]], self.now, self.grounded)
        keep, end = found.keep, found.end
        item = ChangeItem(
            place=0,
            action="write",
            kind=keep.kind,
            fields=_given(keep),
            sources=(end.id,),
            replaced={end.id: end.text},
            confidence=keep.confidence,
            event_at=keep.event_at,
            valid_from=keep.valid_from,
            **_receipt(keep),
        )
        if found.problem or keep.kind not in ("fact", "trait"):
            return replace(item, status="refused", reason=found.problem or "only facts and traits are ended so")
        self._touched |= {keep.id, end.id}
        return item

    def _merges(self, rows: Sequence[dict[str, Any]]) -> Iterator[ChangeItem]:
        for row in rows:
            ids = _names(row, "merged_ids")
            synthesis = replies.words(row, "synthesis", 8000)
            problem = self._untouchable(ids) or self._unmergeable(ids, synthesis)
            if problem:
                yield _refused("merge", "fact", {"content": synthesis}, ids, problem, self._texts(ids))
                continue
            sources = [self.shown[name] for name in ids]
            if freed([source.text for source in sources], _merged_text(sources, synthesis)) >= LEAST_FREED:
                self._touched |= set(ids)
                yield self._merge(sources, synthesis)

    def _merge(self, sources: Sequence[MemoryRow], synthesis: str) -> ChangeItem:
        newest = max(sources, key=lambda row: (row.event_at, row.number))
        tasks = {row.task_id for row in sources}
        spans = [row for row in sources if row.task_id == newest.task_id]
        return ChangeItem(
            place=0,
            action="merge",
            kind=newest.kind,
            fields=_merged_fields(sources, synthesis),
            sources=tuple(row.id for row in sources),
            replaced=self._texts([row.id for row in sources]),
            task_id=newest.task_id,
            first_seq=min(row.first_seq for row in spans) if len(tasks) == 1 else newest.first_seq,
            last_seq=max(row.last_seq for row in spans) if len(tasks) == 1 else newest.last_seq,
            confidence=min(row.confidence for row in sources),
            event_at=newest.event_at,
            valid_from=max(row.valid_from for row in sources),
        )

    def _unmergeable(self, ids: Sequence[str], synthesis: str) -> str:
        if len(ids) < 2 or not synthesis:
            return "a merge takes at least two records and says what takes their place"
        if not any(set(ids) <= {row.id for row in group} for group in self.groups):
            return "the records are not alike enough to be merged"
        if frozenset(ids) in self.declined:
            return "a person did not want these records to be merged"
        if len({name in self.grounded for name in ids}) > 1:
            return "what a person said is not merged with what was only read or concluded"
        sources = [self.shown[name] for name in ids]
        if len({row.fields.get("predicate") or "" for row in sources} - {""}) > 1:
            return "the records answer different questions, each of which has one answer at a time"
        return flaws([row.text for row in sources], _merged_text(sources, synthesis)).reason

    def _heuristics(self, rows: Sequence[dict[str, Any]]) -> Iterator[ChangeItem]:
        kept = 0
        for row in rows:
            item = self._heuristic(row)
            if item.status != "refused" and kept == MOST_HEURISTICS:
                reason = f"no more than {MOST_HEURISTICS} of a night are tried"
                item = replace(item, derived_from=(), status="refused", reason=reason)
            kept += item.status != "refused"
            yield item

    def _heuristic(self, row: dict[str, Any]) -> ChangeItem:
        text, ids = replies.words(row, "content", 500), _names(row, "ids")
        item = ChangeItem(
            place=0,
            action="trial",
            kind="fact",
            fields={"content": text, "type": "heuristic"},
            derived_from=tuple(ids),
            confidence=0.6,
            **(_receipt(self.shown[ids[0]]) if ids and ids[0] in self.shown else {}),
        )
        problem = self._bad_heuristic(text, ids)
        return replace(item, derived_from=(), status="refused", reason=problem) if problem else item

    def _bad_heuristic(self, text: str, ids: Sequence[str]) -> str:
        unknown = [name for name in ids if name not in self.shown]
        if unknown or not ids:
            return UNSHOWN.format(", ".join(unknown[:3])) if ids else "it names no record that it comes from"
        if any(name not in self.grounded and self.shown[name].kind != "lesson" for name in ids):
            return "it comes from records that do not rest on what the person said"
        told = "\n".join(self.shown[name].text for name in ids)
        if share(text, told) < FOLLOWS or bare(text, told) or self._foreign(text):
            return "it does not follow from the records it names"
        if any(alike(content(text), content(other)) >= TRIED for other in self.tried):
            return "it was on trial already"
        return self._harmful(text)

    def _narrative(self, rows: Sequence[dict[str, Any]]) -> Iterator[ChangeItem]:
        """One new version of the soul with the lines that hold, and those that do not, refused."""
        patterns: list[str] = list(self.soul.fields["patterns"])
        room = min(narrative.MOST_LINES, narrative.MOST_PATTERNS - len(patterns))
        lines: list[str] = []
        sources: list[str] = []
        for row in rows:
            line, ids = replies.words(row, "line", narrative.MOST_CHARS + 1), _names(row, "ids")
            unknown = [name for name in ids if name not in self.shown]
            known = [self.shown[name] for name in ids if name in self.shown]
            problem = UNSHOWN.format(", ".join(unknown[:3])) if unknown else ""
            problem = problem or narrative.problem(line, known, self.grounded, [*patterns, *lines])
            problem = problem or (NOT_SAID if self._foreign(line) else self._harmful(line))
            if not problem and len(lines) >= room:
                problem = (
                    f"a soul gets at most {narrative.MOST_LINES} lines a night, and has {narrative.MOST_PATTERNS}"
                )
            if problem:
                yield _refused("write", "soul", {"patterns": [line]}, (), problem)
            else:
                lines.append(line)
                sources += ids
        if lines:
            yield ChangeItem(
                place=0,
                action="write",
                kind="soul",
                fields=narrative.extended(self.soul, lines),
                derived_from=tuple(dict.fromkeys(sources)),
                replaced={self.soul.id: self.soul.text},
            )

    def _untouchable(self, ids: Sequence[str]) -> str:
        unknown = [name for name in ids if name not in self.shown]
        if unknown:
            return UNSHOWN.format(", ".join(name or "(none)" for name in unknown[:3]))
        again = [name for name in ids if name in self._touched]
        return TWICE.format(", ".join(again[:3])) if again or len(set(ids)) < len(ids) else ""

    def _foreign(self, text: str) -> bool:
        """Whether a text has words of a record that rests on nothing a person said, and that no other record has."""
        said = "\n".join(row.text for row in self.shown.values() if row.id in self.grounded or row.kind == "lesson")
        rest = Source.of("\n".join(row.text for row in self.shown.values() if row.text not in said))
        return copied(text, rest, said) or taken_over(text, said, rest) is not None

    def _harmful(self, text: str) -> str:
        if tells_secret(text) or self.memory.secret_in(text):
            return SECRET_REFUSED
        return harm(text) or ""

    def _texts(self, ids: Sequence[str]) -> dict[str, str]:
        return {name: self.shown[name].text for name in ids if name in self.shown}


def _merged_fields(sources: Sequence[MemoryRow], synthesis: str) -> dict[str, Any]:
    first = sources[0]
    if first.kind == "episode":
        values = [row.fields["value"] for row in sources]
        return {**_given(first), "description": synthesis, "value": max(values)}
    predicate = next((row.fields["predicate"] for row in sources if row.fields["predicate"]), "")
    return {**_given(first), "content": synthesis, "predicate": predicate}


def _merged_text(sources: Sequence[MemoryRow], synthesis: str) -> str:
    """What the record that takes the place of others will say."""
    return sources[0].about.text(_merged_fields(sources, synthesis))


def _given(row: MemoryRow) -> dict[str, Any]:
    return {name: value for name, value in row.fields.items() if value is not None}


def _receipt(row: MemoryRow) -> dict[str, Any]:
    return {"task_id": row.task_id, "first_seq": row.first_seq, "last_seq": row.last_seq}


def _refused(
    action: ItemAction,
    kind: str,
    fields: dict[str, Any],
    sources: Sequence[str],
    reason: str,
    replaced: Mapping[str, str] | None = None,
) -> ChangeItem:
    return ChangeItem(
        place=0,
        action=action,
        kind=kind,
        fields=fields,
        sources=tuple(sources),
        replaced=dict(replaced or {}),
        status="refused",
        reason=reason,
    )


def _names(row: dict[str, Any], name: str) -> list[str]:
    """The ids under a name of a row."""
    found = row.get(name)
    return [str(one)[:128] for one in cast("list[Any]", found)[:MOST_EACH]] if isinstance(found, list) else []
