"""Whatever a changeset does to memory, taking it back leaves memory as it was, byte for byte; and whatever people do
between the two, memory stays sound."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aster.brain.memory_kinds import KINDS, Store
from aster.brain.memory_words import words
from aster.brain.postgres.connection import EVERYBODY, PostgresConnection
from aster.brain.sql.connection import Connection
from aster.brain.sql.learning import committing
from aster.brain.sql.memory import forgetting, index, rows, using, writing
from aster.brain.sqlite.brain import open_database
from aster.brain.sqlite.connection import connect
from aster.contracts.learning import ItemAction
from aster.contracts.model import encode
from aster.infra.ids import new_id
from aster.memory.drafts import Draft
from tests.brain.learned import NOW, Drawn, fact, row, transaction

WORDS = st.sampled_from(["in Oslo", "in Rome", "a red boat", "green tea"])
NAMES = st.sampled_from(["Ada", "Bob", "Cleo"])
TIMES = st.sampled_from([10, 20, NOW])


@st.composite
def drafts(draw: st.DrawFn) -> Draft:
    rest = {"valid_from": draw(TIMES), "confidence": draw(st.sampled_from([0.5, 0.9]))}
    match draw(st.sampled_from(["fact", "trait", "edge", "node", "lesson", "episode", "soul"])):
        case "fact":
            return fact(draw(WORDS), draw(NAMES), draw(st.sampled_from(["", "home"])), **rest)
        case "trait":
            where = draw(st.sampled_from([("identity", "city"), ("interests", "drinks")]))
            return Draft("trait", {"category": where[0], "key": where[1], "value": draw(WORDS)}, **rest)
        case "edge":
            how = draw(st.sampled_from(["knows", "lives in"]))
            return Draft("edge", {"source": draw(NAMES), "relation": how, "target": draw(NAMES)}, **rest)
        case "node":
            known = {draw(st.sampled_from(["age", "job"])): draw(WORDS)}
            return Draft("node", {"name": draw(NAMES), "type": "person", "attributes": known}, **rest)
        case "lesson":
            told = {"trigger": draw(NAMES), "correct_pattern": draw(WORDS), "domains": [draw(NAMES)]}
            return Draft("lesson", told, **rest)
        case "episode":
            return Draft("episode", {"description": draw(WORDS), "speaker": draw(NAMES)}, **rest)
        case _:
            return Draft("soul", {"identity": draw(WORDS), "values": [draw(NAMES)]}, **rest)


ACTIONS: st.SearchStrategy[ItemAction] = st.sampled_from(["write", "write", "merge", "retire", "trial"])
ITEMS = st.lists(st.tuples(ACTIONS, drafts(), st.lists(st.integers(0, 30), max_size=3)), min_size=1, max_size=4)
CHANGESETS = st.lists(ITEMS, min_size=1, max_size=4)
KNOWN = st.lists(drafts(), max_size=6)
MEDDLING = st.lists(
    st.tuples(st.sampled_from(["write", "use", "forget", "correct"]), drafts(), st.integers(0, 30)), max_size=3
)


@pytest.fixture(params=["sqlite", "postgres"])
def db(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Connection]:
    if request.param == "sqlite":
        open_database(tmp_path / "brain.sqlite")
        connection = connect(tmp_path / "brain.sqlite")
        connection.execute("PRAGMA synchronous = OFF")
    else:
        connection = PostgresConnection(request.getfixturevalue("clean_url"), **{"aster.user": EVERYBODY})
    yield connection
    connection.close()


def drawn(db: Connection, user_id: str, items: list[tuple[ItemAction, Draft, list[int]]]) -> Drawn:
    """A changeset that touches records as they are now, some of which its own first items may change."""
    made = Drawn(new_id("changeset"), user_id)
    known = rows.select(db, "user_id = ? ORDER BY number", (user_id,))
    for action, draft, chosen in items:
        sources = list(dict.fromkeys(known[at % len(known)].id for at in chosen)) if known else []
        if action in ("write", "merge"):
            made.write(draft, action, sources=tuple(sources))
        else:
            made.add(action, kind=draft.kind, sources=tuple(sources), fields=dict(draft.fields))
    return made


def memory(db: Connection, user_id: str) -> tuple[Any, ...]:
    """All that is remembered of a user, and what is beside the records."""
    held = rows.select(db, "user_id = ? ORDER BY number", (user_id,))
    log = db.execute(
        "SELECT old_id, new_id, at FROM memory_contradictions WHERE user_id = ? ORDER BY place", (user_id,)
    ).fetchall()
    kept = db.execute(
        "SELECT number, key, slot, words FROM memory_receipts WHERE user_id = ? ORDER BY number", (user_id,)
    ).fetchall()
    shelves = db.execute(
        "SELECT store, items, words FROM memory_shelves WHERE user_id = ? AND items > 0 ORDER BY store", (user_id,)
    ).fetchall()
    return encode(held), log, kept, shelves


def is_sound(db: Connection, user_id: str, *, complete: bool = True) -> None:
    """The index says what the records say, and no two records hold one place."""
    held = rows.select(db, "user_id = ? ORDER BY number", (user_id,))
    stores: set[Store] = {one.store for one in held if one.about.searched}
    for store in stores:
        said = {one.number: words(one.text) for one in held if one.store == store}
        assert index.size(db, user_id, store) == len(said)
        terms = {word for found in said.values() for word in found}
        counted = {word: sum(word in found for found in said.values()) for word in terms}
        assert index.frequencies(db, user_id, store, terms) == counted
    ids = {one.id for one in held}
    places: set[bytes] = set()
    for one in held:
        if one.holds:
            named = one.about.key(one.fields, one.task_id), one.about.slot(one.fields)
            for place in set(filter(None, named)):
                assert place not in places, one
                places.add(place)
        if one.kind == "edge":
            assert {one.fields["source_id"], one.fields["target_id"]} <= ids, one
        if complete and one.superseded_by is not None:
            assert one.superseded_by in ids, one
    tables = {kind.table for kind in KINDS.values()}
    contents = sum(
        db.execute(f"SELECT count(*) FROM {table} WHERE user_id = ?", (user_id,)).fetchone()[0] for table in tables
    )
    assert contents == len(held)


@given(known=KNOWN, changesets=CHANGESETS)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_taken_back_was_never_there(
    db: Connection, known: list[Draft], changesets: list[list[tuple[ItemAction, Draft, list[int]]]]
) -> None:
    user_id, done = new_id("user"), list[tuple[str, tuple[Any, ...]]]()
    with transaction(db):
        writing.write(db, [row(draft, user_id) for draft in known])
        for items in changesets:
            before, made = memory(db, user_id), drawn(db, user_id, items)
            kept = committing.commit(db, made.changeset, apply=True, claim=None, now=NOW, rows=made.rows)
            assert kept is not None
            is_sound(db, user_id)
            if kept.status == "applied":
                done.append((kept.changeset_id, before))
            else:
                assert memory(db, user_id) == before, "what is refused changes nothing"
        for changeset_id, before in reversed(done):
            back = committing.decide(db, user_id, changeset_id, "revert", by="ada", now=NOW)
            assert back is not None
            assert back.status == "reverted"
            assert memory(db, user_id) == before
            is_sound(db, user_id)


@given(known=KNOWN, changesets=CHANGESETS, meddling=MEDDLING, order=st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_was_changed_since_memory_stays_sound(
    db: Connection,
    known: list[Draft],
    changesets: list[list[tuple[ItemAction, Draft, list[int]]]],
    meddling: list[tuple[str, Draft, int]],
    order: Any,
) -> None:
    user_id, done = new_id("user"), list[str]()
    with transaction(db):
        writing.write(db, [row(draft, user_id) for draft in known])
        for items in changesets:
            made = drawn(db, user_id, items)
            kept = committing.commit(db, made.changeset, apply=True, claim=None, now=NOW, rows=made.rows)
            assert kept is not None
            if kept.status == "applied":
                done.append(kept.changeset_id)
        for what, draft, at in meddling:
            meddle(db, user_id, what, draft, at)
        order.shuffle(done)
        for changeset_id in done:
            committing.decide(db, user_id, changeset_id, "revert", by="ada", now=NOW)
            is_sound(db, user_id, complete=all(what != "forget" for what, _, _ in meddling))


def meddle(db: Connection, user_id: str, what: str, draft: Draft, at: int) -> None:
    held = rows.select(db, "user_id = ? ORDER BY number", (user_id,))
    if what == "write" or not held:
        writing.write(db, [row(draft, user_id)])
        return
    chosen = held[at % len(held)]
    match what:
        case "use":
            using.use(db, user_id, [chosen.id], "task-9", "turn-9", NOW)
            using.mark(db, user_id, [chosen.id], helpful=True)
        case "forget":
            forgetting.forget(db, user_id, [chosen.id])
        case _ if chosen.holds and chosen.kind == "fact":
            writing.correct(
                db,
                user_id,
                row(Draft("fact", {**chosen.fields, "content": f"{new_id('x')}"}, id=chosen.id), user_id),
            )
        case _:
            pass
