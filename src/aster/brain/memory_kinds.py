"""The kinds of memory: where each is kept, what of it is searched, when two are the same, and when one takes the
place of another.

A kind is data. `key` says what makes two records one; `slot` what only one record can hold at a time (where
somebody lives), so that a new one ends the validity of the old; None for what may be true many times over.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from aster.brain.memory_words import digest

Store: TypeAlias = Literal["episodes", "knowledge", "social", "lessons", "profile", "documents", "soul", "working"]
KindName: TypeAlias = Literal["episode", "fact", "node", "edge", "lesson", "trait", "chunk", "soul", "note"]
Fields: TypeAlias = Mapping[str, Any]

SEARCHED: Final[tuple[Store, ...]] = ("episodes", "knowledge", "social", "lessons", "profile", "documents")

FUNCTIONAL: Final = frozenset(
    {"WORKS_AT", "LIVES_IN", "DRIVES", "MARRIED_TO", "BORN_IN", "STUDIES_AT", "LOCATED_IN", "EMPLOYED_BY"}
    | {"HAS_AGE", "HAS_LOCATION", "HAS_STATUS", "STATUS", "HAS_PID"}
)
"""Relations of which somebody has one at a time."""
GENERIC: Final = frozenset({"project", "task", "system", "user_request", "it", "this", "that"})
"""Names that stand for another thing every time: nothing about them ends because something else began."""
MANY: Final = frozenset({"interests", "likes", "dislikes", "skills", "languages"})
"""Categories of the profile in which a second value joins the first."""


@dataclass(frozen=True, slots=True)
class Kind:
    """Where a kind is kept (`columns` beside number and user), and its rules. `who` is the column that says whose
    words it is, or whom it is about; `beside` are the columns that say among which others it stands, and where: when
    there are none, its task and its place on the thread."""

    name: KindName
    store: Store
    table: str
    columns: tuple[str, ...]
    text: Callable[[Fields], str]
    key: Callable[[Fields, str], bytes | None]
    slot: Callable[[Fields], bytes | None]
    structured: frozenset[str] = frozenset()
    who: str = ""
    beside: tuple[str, str] | None = None

    @property
    def searched(self) -> bool:
        return self.store in SEARCHED

    def meaning(self, fields: Fields) -> str:
        """What is embedded: the text without who said it, which says nothing about what was said."""
        return str(fields["description"]) if self.name == "episode" else self.text(fields)


def relation(text: str) -> str:
    """`works at` is `WORKS_AT`."""
    return "_".join(text.upper().replace("-", " ").replace("_", " ").split())


def _episode(fields: Fields) -> str:
    return f"{fields['speaker']}: {fields['description']}" if fields["speaker"] else fields["description"]


def _fact(fields: Fields) -> str:
    subject, content = str(fields["subject"]), str(fields["content"])
    return content if not subject or subject.casefold() in content.casefold() else f"{subject}: {content}"


def _node(fields: Fields) -> str:
    known = "; ".join(f"{name}: {value}" for name, value in sorted(fields["attributes"].items()))
    return f"{fields['name']} ({fields['type']}){': ' if known else ''}{known}"


def _edge(fields: Fields) -> str:
    return f"{fields['source']} {fields['relation'].lower().replace('_', ' ')} {fields['target']}"


def _lesson(fields: Fields) -> str:
    parts = (fields["trigger"], fields["mistake"], fields["correct_pattern"], " ".join(fields["domains"]))
    return ". ".join(part for part in parts if part)


def _trait(fields: Fields) -> str:
    return f"{fields['key']}: {fields['value']}"


def _chunk(fields: Fields) -> str:
    return f"{fields['title']}: {fields['content']}" if fields["title"] else fields["content"]


def _soul(fields: Fields) -> str:
    return "\n".join((fields["identity"], *fields["values"], *fields["patterns"], fields["voice"] or ""))


def _edge_slot(fields: Fields) -> bytes | None:
    single = fields["relation"] in FUNCTIONAL and fields["source"].casefold() not in GENERIC
    return digest("edge", fields["source_id"], fields["relation"]) if single else None


def _trait_slot(fields: Fields) -> bytes | None:
    many = fields["category"] in MANY
    return None if many else digest("trait", fields["category"], fields["key"])


_ALL: Final[tuple[Kind, ...]] = (
    Kind(
        "episode",
        "episodes",
        "episodes",
        ("description", "speaker", "value", "tier"),
        _episode,
        lambda f, task: digest("episode", task, f["speaker"], f["description"]),
        lambda _: None,
        who="speaker",
    ),
    Kind(
        "fact",
        "knowledge",
        "knowledge_store",
        ("subject", "predicate", "content", "type", "source"),
        _fact,
        lambda f, _: digest("fact", f["subject"], f["predicate"], f["content"]),
        lambda f: digest("fact", f["subject"], f["predicate"]) if f["predicate"] else None,
        who="subject",
    ),
    Kind(
        "node",
        "social",
        "social_graph_nodes",
        ("name", "type", "attributes"),
        _node,
        lambda f, _: digest("node", f["name"]),
        lambda _: None,
        frozenset({"attributes"}),
        who="name",
    ),
    Kind(
        "edge",
        "social",
        "social_graph_edges",
        ("source_id", "relation", "target_id", "source", "target", "weight"),
        _edge,
        lambda f, _: digest("edge", f["source_id"], f["relation"], f["target_id"]),
        _edge_slot,
        who="source",
    ),
    Kind(
        "lesson",
        "lessons",
        "lessons",
        (
            *("trigger", "mistake", "correct_pattern", "code_example", "domains"),
            *("verified", "frequency", "helpful", "harmful"),
        ),
        _lesson,
        lambda f, _: digest("lesson", f["trigger"]),
        lambda _: None,
        frozenset({"domains"}),
    ),
    Kind(
        "trait",
        "profile",
        "profile",
        ("category", "key", "value"),
        _trait,
        lambda f, _: digest("trait", f["category"], f["key"], f["value"]),
        _trait_slot,
    ),
    Kind(
        "chunk",
        "documents",
        "ingestion_chunks",
        ("document", "position", "title", "content"),
        _chunk,
        lambda f, _: digest("chunk", f["document"], str(f["position"]), f["content"]),
        lambda f: digest("chunk", f["document"], str(f["position"])),
        beside=("document", "position"),
    ),
    Kind(
        "soul",
        "soul",
        "soul",
        ("identity", "values", "patterns", "voice", "version"),
        _soul,
        lambda f, _: digest("soul", _soul(f)),
        lambda _: digest("soul"),
        frozenset({"values", "patterns"}),
    ),
    Kind(
        "note",
        "working",
        "working_memory_log",
        ("type", "text", "expires_at"),
        lambda f: f["text"],
        lambda f, _: None,
        lambda _: None,
    ),
)
KINDS: Final[dict[KindName, Kind]] = {kind.name: kind for kind in _ALL}


def kinds_of(store: Store) -> tuple[Kind, ...]:
    return tuple(kind for kind in KINDS.values() if kind.store == store)
