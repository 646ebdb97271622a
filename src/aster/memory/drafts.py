"""What may be remembered: a draft becomes a record only through here.

Every door (HTTP, a tool, the learning centre, an import) gets the same checks: fields of the right kind, a length a
prompt can bear, text that can be written as UTF-8, and no secret, whoever sent it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast

import msgspec

from aster.brain.memory_kinds import KindName, relation
from aster.brain.memory_records import MemoryRow
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.memory import (
    Chunk,
    Episode,
    KnowledgeFact,
    Lesson,
    LogEntry,
    Memorable,
    SocialEdge,
    SocialNode,
    Soul,
    Trait,
)
from aster.infra.ids import new_id
from aster.infra.secrets import Secrets
from aster.memory.profile import placed

LONGEST: Final = 20_000
NOTE_MS: Final = 7 * 86_400_000
"""How long a note of working memory lasts unless it says otherwise."""

_KINDS: Final[dict[KindName, type[Memorable]]] = {
    "episode": Episode,
    "fact": KnowledgeFact,
    "node": SocialNode,
    "edge": SocialEdge,
    "lesson": Lesson,
    "trait": Trait,
    "chunk": Chunk,
    "soul": Soul,
    "note": LogEntry,
}


@dataclass(frozen=True, slots=True)
class Draft:
    """Something to remember, and its receipt. Times are milliseconds; what is left out is now, and for good."""

    kind: KindName
    fields: Mapping[str, Any]
    task_id: str = ""
    first_seq: int = 0
    last_seq: int = 0
    extractor: str = "person"
    derived_from: tuple[str, ...] = ()
    confidence: float = 1.0
    event_at: int | None = None
    valid_from: int | None = None
    valid_until: int | None = None
    id: str = field(default="")


def row_of(draft: Draft, user_id: str, secrets: Secrets, now: int) -> MemoryRow:
    """The record a draft asks for, checked and cleaned."""
    begins = draft.valid_from if draft.valid_from is not None else (draft.event_at or now)
    if draft.valid_until is not None and draft.valid_until < begins:
        raise _invalid("valid_until", "is before valid_from")
    if not 0 <= draft.confidence <= 1:
        raise _invalid("confidence", "has to be between 0 and 1")
    return MemoryRow(
        id=draft.id or new_id(draft.kind),
        user_id=user_id,
        kind=draft.kind,
        fields=_rounded(draft, fields_of(draft.kind, draft.fields, secrets), now),
        created_at=now,
        event_at=draft.event_at if draft.event_at is not None else now,
        valid_from=begins,
        valid_until=draft.valid_until,
        task_id=draft.task_id,
        first_seq=draft.first_seq,
        last_seq=draft.last_seq,
        extractor=draft.extractor,
        derived_from=tuple(sorted(set(draft.derived_from))),
        confidence=draft.confidence,
    )


def fields_of(kind: KindName, given: Mapping[str, Any], secrets: Secrets) -> dict[str, Any]:
    """The fields of a kind, complete and clean."""
    long = sum(_length(value) for value in given.values())
    if long > LONGEST:
        raise EngineError(
            ErrorCode.PAYLOAD_TOO_LARGE,
            f"A memory holds at most {LONGEST:,} characters, this has {long:,}. Remember what matters of it, or"
            " put it in as a document, which is cut into parts.",
            {"characters": long, "most": LONGEST},
        )
    try:
        checked = msgspec.convert(tidy(dict(given)), _KINDS[kind])
    except msgspec.ValidationError as error:
        problem, _, where = str(error).partition(" - at `$")
        raise _invalid(where.strip("`.") or "fields", problem[:1].lower() + problem[1:]) from None
    fields = cast("dict[str, Any]", msgspec.to_builtins(checked))
    cleaned = cast("dict[str, Any]", secrets.clean_data(fields, "memory", shapes=True))
    return _completed(kind, cleaned)


def _rounded(draft: Draft, fields: dict[str, Any], now: int) -> dict[str, Any]:
    """What a draft leaves open: a fact comes from its task, a note ends after a week."""
    if draft.kind == "fact" and draft.task_id and not fields["source"]:
        return {**fields, "source": f"trajectory:{draft.task_id}"}
    if draft.kind == "note" and fields["expires_at"] is None:
        return {**fields, "expires_at": now + NOTE_MS}
    return fields


def tidy(value: Any) -> Any:
    """Text that can be written as UTF-8 and shown: surrogate pairs joined, lone ones replaced, no NUL."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\x00", "").strip()
    if isinstance(value, dict):
        return {tidy(name): tidy(item) for name, item in cast("dict[Any, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [tidy(item) for item in cast("list[Any]", value)]
    return value


def _completed(kind: KindName, fields: dict[str, Any]) -> dict[str, Any]:
    match kind:
        case "edge":
            return {**fields, "relation": relation(fields["relation"])}
        case "lesson":
            return {**fields, "verified": int(fields["verified"])}
        case "trait":
            category, key = placed(fields["category"], fields["key"])
            return {**fields, "category": category, "key": key}
        case _:
            return fields


def _length(value: Any) -> int:
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return sum(_length(name) + _length(item) for name, item in cast("dict[Any, Any]", value).items())
    if isinstance(value, list | tuple):
        return sum(_length(item) for item in cast("list[Any]", value))
    return 0


def _invalid(name: str, problem: str) -> EngineError:
    return EngineError(
        ErrorCode.INVALID_REQUEST,
        f"Correct this and send it again: `{name}` {problem}.",
        {"fields": [{"field": name, "problem": problem}]},
    )
