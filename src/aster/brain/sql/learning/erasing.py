"""What is forgotten is forgotten here too: a changeset, a trial or a run that carries the words of a record, or of a
task that was deleted, keeps what became of it and loses the words.

What was learned and is still remembered keeps what it says, since memory says it as well; only its quotation goes.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, cast

from msgspec.structs import replace

from aster.brain.memory_records import MemoryRow
from aster.brain.sql.connection import Connection
from aster.brain.sql.learning import kept, shelving, trials
from aster.brain.sql.learning.kept import KeptItem
from aster.brain.sql.memory.rows import batches, marks
from aster.contracts.learning import ChangeItem, Trial, TrialRun
from aster.contracts.model import decode, encode

FORGOTTEN: Final = "What it said was forgotten."
DELETED: Final = "The task it came from was deleted."
TABLES: Final = ("changesets", "changeset_items", "changeset_images", "trials", "trial_runs")
"""What may carry words of a user."""
_ALONE: Final = 8
_SHORT: Final = 5
"""Characters from which a text tells what it is from: a single word, and several."""
_WORD: Final = 4
_SPACED: Final = bytes(at if chr(at).isalnum() or at in b"-_" or at >= 128 else 32 for at in range(256))
_NO_WORDS: Final = frozenset({"source_id", "target_id", "type", "tier", "category", "speaker"})


class Gone(NamedTuple):
    """What went: which records, the texts of them as they are written, and where they came from. `marks` are the ids
    and a word of each text: what has none of them has nothing to lose, but for the texts that are `whole`, which have
    no words that could be told apart."""

    ids: frozenset[str]
    texts: tuple[bytes, ...]
    spans: Mapping[str, Sequence[tuple[int, int]]]
    marks: frozenset[bytes]
    whole: tuple[bytes, ...]

    def near(self, written: bytes) -> bool:
        """Whether a closer look may find something."""
        return not self.marks.isdisjoint(_words(written)) or any(text in written for text in self.whole)

    def said_in(self, value: object) -> bool:
        written = value if isinstance(value, bytes) else encode(value)
        return any(text in written for text in self.texts)

    def quoted(self, one: ChangeItem | Trial) -> bool:
        """Whether its quotation comes from where one of the records came from, or says what one said."""
        spans = self.spans.get(one.task_id, ()) if one.task_id else ()
        near = any(first <= one.last_seq and last >= one.first_seq for first, last in spans)
        return near or self.said_in(one.quote)


def forgotten(db: Connection, user_id: str, rows: Sequence[MemoryRow], now: int) -> None:
    """Records are gone, and so is what was kept of their words for learning."""
    gone = _gone(db, user_id, rows)
    for some in batches(gone.ids):
        db.execute(
            f"DELETE FROM changeset_images WHERE user_id = ? AND record_id IN ({marks(some)})", (user_id, *some)
        )
    for changeset_id, one in _items(db, user_id, gone):
        left = _without(one, gone)
        if left == one:
            continue
        if one.item.action == "skill":
            told = shelving.unsay(db, user_id, one.item)
            left = replace(left, item=replace(left.item, fields=told.fields if left.item.fields else {}))
        kept.update_item(db, user_id, changeset_id, left)
        kept.restand(db, user_id, changeset_id)
    for trial in _trials(db, user_id, gone):
        if trial.record_id in gone.ids or gone.said_in(trial.fields):
            _silence(db, trial, FORGOTTEN, now)
        elif trial.quote and gone.quoted(trial):
            _unquote(db, trial, FORGOTTEN, now)
    for run in _runs(db, user_id, gone):
        if gone.said_in(run.answer):
            _mute(db, run, user_id)
    for number, title, note in db.execute(
        "SELECT number, title, note FROM changesets WHERE user_id = ?", (user_id,)
    ).fetchall():
        if gone.said_in([title, note]):
            db.execute("UPDATE changesets SET title = '', note = '' WHERE number = ?", (number,))


def deleted(db: Connection, user_id: str, task_id: str, now: int) -> None:
    """A task is gone: nothing quotes it any more, and what was not yet learned from it is not."""
    for changeset_id, one in _items(db, user_id, task_id):
        item = shelving.unsay(db, user_id, one.item) if one.item.action == "skill" else one.item
        left = replace(item, quote="") if _learned(item) else _unsaid(item, DELETED)
        kept.update_item(db, user_id, changeset_id, replace(one, item=left, row=None))
        kept.restand(db, user_id, changeset_id)
    for trial in _trials(db, user_id, task_id):
        _unquote(db, trial, DELETED, now)
    db.execute("DELETE FROM trial_runs WHERE user_id = ? AND task_id = ?", (user_id, task_id))


def wiped(db: Connection, user_id: str) -> int:
    """Everything of a user is forgotten; nothing of what happened before is to be learned from again."""
    for (body,) in db.execute("SELECT body FROM changeset_items WHERE user_id = ?", (user_id,)).fetchall():
        item = decode(body, KeptItem).item
        if item.action == "skill":
            shelving.unsay(db, user_id, item)
    return sum(
        db.execute(f"DELETE FROM {table} WHERE user_id = ?", (user_id,)).rowcount
        for table in (*TABLES, "learning_journal")
    )


def _gone(db: Connection, user_id: str, rows: Sequence[MemoryRow]) -> Gone:
    ids = frozenset(row.id for row in rows)
    spans: dict[str, list[tuple[int, int]]] = {}
    for one in (*rows, *_learned_as(db, user_id, ids)):
        if one.task_id:
            spans.setdefault(one.task_id, []).append((one.first_seq, one.last_seq))
    said = {text for row in rows for text in (row.text, *_said(row.fields)) if _telling(text)}
    texts = {encode(text)[1:-1]: _longest(encode(text)[1:-1]) for text in sorted(said)}
    marks = {name.encode() for name in ids} | {mark for mark in texts.values() if mark is not None}
    whole = tuple(text for text, mark in texts.items() if mark is None)
    return Gone(ids, tuple(texts), spans, frozenset(marks), whole)


def _learned_as(db: Connection, user_id: str, ids: Iterable[str]) -> list[ChangeItem]:
    """The items that these records came from, which know where they were said."""
    found: list[ChangeItem] = []
    for some in batches(ids):
        query = f"SELECT body FROM changeset_items WHERE user_id = ? AND record_id IN ({marks(some)})"
        found += [decode(body, KeptItem).item for (body,) in db.execute(query, (user_id, *some)).fetchall()]
    return found


def _words(written: bytes) -> list[bytes]:
    return written.replace(b"\\n", b"  ").translate(_SPACED).split()


def _longest(text: bytes) -> bytes | None:
    """A word by which a text is found; None when it has none that surely stands by itself in other texts too."""
    plain = [word for word in _words(text) if len(word) >= _WORD and word.isascii()]
    return max(plain, key=len, default=None)


def _said(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, held in cast("dict[str, Any]", value).items():
            if name not in _NO_WORDS:
                yield from _said(held)
    elif isinstance(value, list):
        for held in cast("list[Any]", value):
            yield from _said(held)


def _telling(text: str) -> bool:
    return len(text) >= (_SHORT if " " in text else _ALONE) and not text.startswith("trajectory:")


def _without(one: KeptItem, gone: Gone) -> KeptItem:
    item, row = one.item, one.row
    quoted = bool(item.quote) and gone.quoted(item)
    learned = _learned(item) and item.record_id not in gone.ids
    replaced = {
        name: text for name, text in item.replaced.items() if name not in gone.ids and not gone.said_in(text)
    }
    said = (
        item.record_id in gone.ids
        or gone.said_in(item.fields)
        or not gone.ids.isdisjoint(item.sources if item.action == "merge" else item.derived_from)
        or (row is not None and (not gone.ids.isdisjoint(row.derived_from) or gone.said_in(row.fields)))
        or (quoted and not learned)
    )
    left = replace(item, replaced=replaced, quote="" if quoted else item.quote)
    return KeptItem(item=_unsaid(left, FORGOTTEN)) if said else replace(one, item=left)


def _learned(item: ChangeItem) -> bool:
    """Whether memory says it as well."""
    return item.status in ("applied", "kept") and item.action != "trial"


def _unsaid(item: ChangeItem, reason: str) -> ChangeItem:
    """An item without what it said; one that nobody has decided about will not be done."""
    status = "rejected" if item.status == "proposed" else item.status
    return replace(item, fields={}, quote="", replaced={}, status=status, reason=reason)


def _unquote(db: Connection, trial: Trial, reason: str, now: int) -> None:
    """What a trial rests on is gone: only what has proved itself stays."""
    if trial.status == "promoted":
        trials.update(db, replace(trial, quote=""))
    else:
        _silence(db, trial, reason, now)


def _silence(db: Connection, trial: Trial, reason: str, now: int) -> None:
    """A trial without what was tried; one that is open ends."""
    over = trial.status in ("promoted", "retired")
    trials.update(
        db,
        replace(
            trial,
            fields={},
            quote="",
            status=trial.status if over else "retired",
            decided_at=trial.decided_at if over else now,
            reason=reason,
        ),
    )
    query = "SELECT body FROM trial_runs WHERE user_id = ? AND trial_id = ?"
    for (body,) in db.execute(query, (trial.user_id, trial.trial_id)).fetchall():
        _mute(db, decode(body, TrialRun), trial.user_id)


def _mute(db: Connection, run: TrialRun, user_id: str) -> None:
    db.execute(
        "UPDATE trial_runs SET body = ? WHERE user_id = ? AND trial_id = ? AND turn_id = ? AND arm = ?",
        (encode(replace(run, answer="")), user_id, run.trial_id, run.turn_id, run.arm),
    )


def _items(db: Connection, user_id: str, what: Gone | str) -> list[tuple[str, KeptItem]]:
    """The items that may have something of what went, or those of a task."""
    found = _found(db, "changeset_id, task_id, body FROM changeset_items", user_id, what)
    return [(changeset_id, decode(body, KeptItem)) for changeset_id, _, body in found]


def _trials(db: Connection, user_id: str, what: Gone | str) -> list[Trial]:
    found = _found(db, "number, task_id, body FROM trials", user_id, what)
    return [decode(body, Trial) for _, _, body in found]


def _runs(db: Connection, user_id: str, what: Gone) -> list[TrialRun]:
    found = _found(db, "trial_id, task_id, body FROM trial_runs", user_id, what)
    return [decode(body, TrialRun) for _, _, body in found]


def _found(db: Connection, what: str, user_id: str, of: Gone | str) -> list[tuple[Any, str, bytes]]:
    if isinstance(of, str):
        return db.execute(f"SELECT {what} WHERE user_id = ? AND task_id = ?", (user_id, of)).fetchall()
    held = db.execute(f"SELECT {what} WHERE user_id = ?", (user_id,)).fetchall()
    return [(name, task_id, body) for name, task_id, body in held if task_id in of.spans or of.near(body)]
