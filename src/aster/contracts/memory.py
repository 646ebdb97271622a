"""Memory records: what each kind of memory says. Where it came from, how sure it is and how long it holds is in its
receipt, which is the same for all kinds and is kept beside it.

A record that does not fit its kind is refused, whoever wrote it; a field that is not known is not dropped but told.
"""

from enum import StrEnum
from typing import Annotated, Literal, TypeAlias

from msgspec import Meta, Struct, field

SHORT = 500

Long: TypeAlias = Annotated[str, Meta(min_length=1)]
Short: TypeAlias = Annotated[str, Meta(max_length=SHORT)]
Name: TypeAlias = Annotated[str, Meta(min_length=1, max_length=SHORT)]
Share: TypeAlias = Annotated[float, Meta(ge=0, le=1)]
Count: TypeAlias = Annotated[int, Meta(ge=0)]
FactType: TypeAlias = Literal["fact", "rule", "heuristic"]


class EntryType(StrEnum):
    NOTE = "note"
    OBSERVATION = "observation"
    SUMMARY = "summary"
    DECISION = "decision"


class Memorable(Struct, frozen=True, forbid_unknown_fields=True):
    """What one record says."""


class Episode(Memorable, frozen=True):
    """Something that happened or was said."""

    description: Long
    speaker: Short = ""
    value: Share = 0.5
    tier: Literal["recent", "lasting", "core"] = "recent"


class KnowledgeFact(Memorable, frozen=True):
    """Something that is true, for as long as it is valid."""

    content: Long
    subject: Short = ""
    predicate: Short = ""
    type: FactType = "fact"
    source: Short = ""


class SocialNode(Memorable, frozen=True):
    """Somebody or something with a name."""

    name: Name
    kind: Literal["person", "organisation", "place", "other"] = field(default="other", name="type")
    attributes: Annotated[dict[Name, Short], Meta(max_length=50)] = {}


class SocialEdge(Memorable, frozen=True):
    """What holds between two of them; the ids are filled in from the names."""

    source: Name
    relation: Name
    target: Name
    weight: Annotated[int, Meta(ge=1, le=1_000_000)] = 1
    source_id: Short = ""
    target_id: Short = ""


class Lesson(Memorable, frozen=True):
    """What to do differently; `helpful` and `harmful` count what became of turns that were given it."""

    trigger: Long
    correct_pattern: Long
    mistake: str = ""
    code_example: str = ""
    domains: Annotated[list[Name], Meta(max_length=20)] = []
    verified: bool | Annotated[int, Meta(ge=0, le=1)] = False
    frequency: Annotated[int, Meta(ge=1)] = 1
    helpful: Count = 0
    harmful: Count = 0


class Trait(Memorable, frozen=True):
    """A line of the user's profile."""

    key: Name
    value: Long
    category: Name = "root"


class Chunk(Memorable, frozen=True):
    """A part of a document."""

    document: Name
    content: Long
    position: Count = 0
    title: Short = ""


class Soul(Memorable, frozen=True):
    """Who the agent is for this user."""

    identity: Long
    values: Annotated[list[Long], Meta(max_length=100)] = []
    patterns: Annotated[list[Long], Meta(max_length=500)] = []
    voice: Long | None = None
    version: int = 0


class LogEntry(Memorable, frozen=True):
    """One line of a task's working memory; `expires_at` is in milliseconds."""

    text: Long
    type: EntryType = EntryType.NOTE
    expires_at: int | None = None
