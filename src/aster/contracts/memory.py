"""Memory records: what is remembered, each with the receipt that says where it came from."""

from enum import StrEnum
from typing import Any, Literal, TypeAlias

from aster.contracts.model import Contract


class Receipt(Contract):
    """Where a memory came from: a task, a span of its thread, and who extracted it."""

    task_id: str
    first_seq: int
    last_seq: int
    extractor: str
    derived_from: tuple[str, ...] = ()


class Episode(Contract):
    """Something that happened."""

    id: str
    description: str
    value: float
    tier: str
    receipt: Receipt
    created_at: str
    strength: float = 1.0
    uses: int = 0


FactType: TypeAlias = Literal["fact", "rule", "heuristic"]


class KnowledgeFact(Contract):
    """Something that is true, for as long as it is valid."""

    id: str
    subject: str
    content: str
    type: FactType
    confidence: float
    source: str
    valid_from: str
    valid_until: str | None = None
    receipt: Receipt | None = None
    superseded_by: str | None = None


class SocialNode(Contract):
    id: str
    name: str
    kind: Literal["person", "organisation", "place", "other"]
    attributes: dict[str, Any] = {}
    receipt: Receipt | None = None


class SocialEdge(Contract):
    id: str
    source_id: str
    target_id: str
    relation: str
    valid_from: str
    valid_until: str | None = None
    receipt: Receipt | None = None


class Soul(Contract):
    """Who the agent is for this user."""

    identity: str
    values: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    voice: str | None = None
    version: int = 1


class Lesson(Contract):
    id: str
    trigger: str
    mistake: str
    correct_pattern: str
    domains: tuple[str, ...] = ()
    verified: bool = False
    utility: float = 0.0
    receipt: Receipt | None = None


class EntryType(StrEnum):
    NOTE = "note"
    OBSERVATION = "observation"
    SUMMARY = "summary"
    DECISION = "decision"


class LogEntry(Contract):
    """One line of a task's working memory."""

    id: str
    task_id: str
    type: EntryType
    text: str
    created_at: str
    expires_at: str | None = None
