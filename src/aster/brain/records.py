"""Rows that are written beside the events of a thread, in the same commit.

A row names its table and its key once, here; both brains write any of them with one statement built from the
struct. `thread_id` and `user_id` are filled in by the brain, so no caller can write into another user's thread.
"""

from typing import ClassVar, Literal, NamedTuple, TypeAlias

from aster.contracts.model import Contract


class ThreadKey(NamedTuple):
    """Who and which task: the only address a thread has outside the brain."""

    user_id: str
    task_id: str


class Place(NamedTuple):
    """A place in a user's list of tasks: when the task there had changed, and which it is."""

    updated_at: int
    task_id: str


class Row(Contract):
    table: ClassVar[str]
    key: ClassVar[tuple[str, ...]]


class ConversationRow(Row):
    """The messages of one ended turn, as the next turn will send them."""

    table: ClassVar[str] = "conversations"
    key: ClassVar[tuple[str, ...]] = ("turn_id",)

    turn_id: str
    messages: bytes
    message_count: int
    follows_turn_id: str | None
    follows_messages: int | None
    created_at: int


InboxMode: TypeAlias = Literal["queue", "steer", "interrupt"]


class InboxRow(Row):
    """A message that waits for its turn; it leaves when a `user_message` event with its id is committed."""

    table: ClassVar[str] = "inbox"
    key: ClassVar[tuple[str, ...]] = ("message_id",)

    message_id: str
    turn_id: str
    mode: InboxMode
    body: bytes
    created_at: int


class SnapshotRow(Row):
    table: ClassVar[str] = "channel_state_snapshots"
    key: ClassVar[tuple[str, ...]] = ("turn_id",)

    turn_id: str
    task_id: str
    seq: int
    snapshot_json: bytes
    expires_at: int


class TrajectoryRow(Row):
    table: ClassVar[str] = "trajectories"
    key: ClassVar[tuple[str, ...]] = ("turn_id",)

    turn_id: str
    status: str
    record: bytes
    created_at: int


class ObservabilityRow(Row):
    """Something an operator may want to find later; not bound to a thread."""

    table: ClassVar[str] = "observability_events"
    key: ClassVar[tuple[str, ...]] = ("event_id",)

    event_id: str
    user_id: str
    kind: str
    level: str
    message: str
    created_at: int
    task_id: str | None = None
    turn_id: str | None = None
    request_id: str | None = None
    data: bytes | None = None


class ArtifactRow(Row):
    """Something a tool produced, whole; the thread carries its id and a preview."""

    table: ClassVar[str] = "artifacts"
    key: ClassVar[tuple[str, ...]] = ("artifact_id",)

    artifact_id: str
    turn_id: str
    tool_call_id: str
    name: str
    media_type: str
    size: int
    sha256: str
    data: bytes
    created_at: int


class FileVersionRow(Row):
    """What a file held before a call changed it; `data` is None when there was no file, or too much in it."""

    table: ClassVar[str] = "file_versions"
    key: ClassVar[tuple[str, ...]] = ("call_key",)

    call_key: str
    turn_id: str
    tool_call_id: str
    path: str
    existed: bool
    mode: int | None
    data: bytes | None
    created_at: int


class FileAfterRow(Row):
    """What the file held once the call was done, by its hash."""

    table: ClassVar[str] = "file_versions"
    key: ClassVar[tuple[str, ...]] = ("call_key",)

    call_key: str
    sha256_after: str


class FileUndoneRow(Row):
    """The change was taken back."""

    table: ClassVar[str] = "file_versions"
    key: ClassVar[tuple[str, ...]] = ("call_key",)

    call_key: str
    undone_at: int


class KeyRow(Row):
    """A key by its hash; the key itself is shown once and kept nowhere."""

    table: ClassVar[str] = "api_keys"
    key: ClassVar[tuple[str, ...]] = ("key_id",)

    key_id: str
    user_id: str
    name: str
    key_hash: str
    created_at: int
    retired_at: int | None = None
    revoked_at: int | None = None


class BudgetRow(Row):
    """A limit somebody set; None says that there is none. `task_id` is empty for a limit on the user's day."""

    table: ClassVar[str] = "budgets"
    key: ClassVar[tuple[str, ...]] = ("user_id", "scope", "task_id", "owner")

    user_id: str
    scope: Literal["user", "task"]
    task_id: str
    owner: Literal["operator", "user"]
    limit_usd: float | None
    updated_at: int


class Spent(NamedTuple):
    """Money spent, in USD: by a user over a while, and by one task ever."""

    user: float
    task: float


UsageGroup: TypeAlias = Literal["day", "model", "user", "task", "turn"]


class UsageSlice(Contract):
    """Which model calls to add up; `user_id` None is everybody's, `until` is not included."""

    user_id: str | None
    task_id: str | None = None
    since: int | None = None
    until: int | None = None


class UsageSum(Contract):
    """Model calls added up. `cost_usd` is the sum of the known costs, None when no cost is known."""

    key: str | None
    user_id: str | None
    task_id: str | None
    turn_id: str | None
    calls: int
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    cost_usd: float | None
    unpriced_calls: int
    first_at: int | None
    last_at: int | None


class UsageRow(Row):
    """What a model call used whose task was deleted meanwhile; any other is on its thread."""

    table: ClassVar[str] = "usage"
    key: ClassVar[tuple[str, ...]] = ("usage_id",)

    user_id: str
    task_id: str
    model: str
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    cost_usd: float | None
    ts: int
    turn_id: str = ""


class QuotaRow(Row):
    """A limit of a model provider as it was last told; it concerns everybody, so it is the operator's."""

    table: ClassVar[str] = "quota_windows"
    key: ClassVar[tuple[str, ...]] = ("endpoint", "model", "name")

    endpoint: str
    model: str
    name: str
    capacity: int
    remaining: int
    seen_at: int
    resets_at: int
    user_id: str = "operator"


class ThreadRecord(Contract):
    """A task as it is listed."""

    task_id: str
    user_id: str
    title: str
    status: str
    created_at: int
    updated_at: int
    active_turn_id: str | None = None
    tip_turn_id: str | None = None
    from_task_id: str | None = None
    from_seq: int | None = None
    parent_task_id: str | None = None
    home_task_id: str | None = None
    owner: str | None = None
    epoch: int = 0
    asked_to_stop: str | None = None


class TurnRecord(Contract):
    """A turn as it is listed."""

    turn_id: str
    task_id: str
    user_id: str
    status: str
    segment: int
    first_seq: int
    started_at: int
    last_seq: int | None = None
    ended_at: int | None = None
    stop_reason: str | None = None
    error: str | None = None
    model_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cost_usd: float = 0.0
    agent: str = "main"
    crashes: int = 0
    owner: str | None = None
    epoch: int = 0


class HitlRecord(Contract):
    """A request to a person, open or answered."""

    request_id: str
    task_id: str
    user_id: str
    turn_id: str
    kind: str
    question: str
    status: str
    created_at: int
    tool: str | None = None
    tool_call_id: str | None = None
    input: bytes | None = None
    options: bytes | None = None
    reason: str | None = None
    answer: str | None = None
    resolved_at: int | None = None
    offer: bytes | None = None


class ArtifactRecord(Contract):
    """An artifact as it is listed."""

    artifact_id: str
    task_id: str
    turn_id: str
    tool_call_id: str
    name: str
    media_type: str
    size: int
    sha256: str
    created_at: int


class FileVersion(Contract):
    """A change of a file that can be taken back, as long as it has not been."""

    call_key: str
    turn_id: str
    tool_call_id: str
    path: str
    existed: bool
    mode: int | None
    data: bytes | None
    sha256_after: str | None
    created_at: int


class Frame(NamedTuple):
    """One committed event as it goes to clients: `data` is the whole SSE frame, shared by all of them."""

    seq: int
    type: str
    turn_id: str | None
    grade: str
    data: bytes

    @property
    def json(self) -> bytes:
        """The event alone, without the frame around it."""
        return self.data[self.data.index(b"\ndata: ") + 7 : -2]


def frame(seq: int, kind: str, turn_id: str | None, grade: str, json: bytes) -> Frame:
    """Put the SSE frame around an encoded event."""
    return Frame(seq, kind, turn_id, grade, b"id: %d\nevent: %s\ndata: %s\n\n" % (seq, kind.encode(), json))
