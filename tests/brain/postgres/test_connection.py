"""A connection that sends first and looks later: values come back as they went, failures are raised and not lost."""

from collections.abc import Iterator

import psycopg
import pytest

from aster.brain.postgres.connection import PostgresConnection, conninfo
from aster.brain.postgres.statements import statement
from tests.postgres import server


@pytest.fixture
def db(clean_url: str) -> Iterator[PostgresConnection]:
    connection = PostgresConnection(clean_url)
    connection.execute("CREATE TEMP TABLE t (a BIGINT, b TEXT, c BYTEA, d DOUBLE PRECISION)")
    yield connection
    connection.close()


@pytest.mark.parametrize(
    ("row", "back"),
    [
        ((1, "text", b"\x00\xff", 0.1), None),
        ((-(2**63), "", b"", 1e300), None),
        ((None, None, None, None), None),
        ((True, "a\x00b", bytearray(b"x"), float("inf")), (1, "a�b", b"x", float("inf"))),
        ((0, "üñ 🦉 '?'", memoryview(b"y"), 3), (0, "üñ 🦉 '?'", b"y", 3.0)),
    ],
)
def test_values_come_back(db: PostgresConnection, row: tuple[object, ...], back: tuple[object, ...] | None) -> None:
    for _ in range(3):
        db.execute("DELETE FROM t")
        db.execute("INSERT INTO t VALUES (?, ?, ?, ?)", row)
        assert db.execute("SELECT * FROM t").fetchall() == [back or row]


@pytest.mark.parametrize("number", [0, 1, -1, 9999, 10_000, -10_000, 123_456_789, 2**62, 10**20, 0.5, -12345.678])
def test_sums_are_numbers(db: PostgresConnection, number: float) -> None:
    found = db.execute(f"SELECT CAST('{number}' AS NUMERIC)").fetchone()[0]
    assert found == pytest.approx(number)
    assert isinstance(found, type(number))


def test_a_sum_over_rows_is_whole(db: PostgresConnection) -> None:
    db.executemany("INSERT INTO t (a) VALUES (?)", [(2**40,), (5,)])
    assert repr(db.execute("SELECT sum(a), count(*), max(a) > 5, NULL FROM t").fetchone()) == str(
        (2**40 + 5, 2, True, None)
    )


def test_marks_are_numbered_outside_quotes() -> None:
    assert statement("SELECT '?', 'it''s ?', ? WHERE x = ?").text == b"SELECT '?', 'it''s ?', $1 WHERE x = $2"
    assert [statement(sql).table for sql in ("SELECT 1", "INSERT INTO a VALUES (?)", "UPDATE b SET c = 1")] == [
        None,
        "a",
        "b",
    ]
    assert statement("DELETE FROM c").table == "c"


def test_a_failure_is_raised_where_a_result_is_asked_for(db: PostgresConnection) -> None:
    db.execute("BEGIN")
    db.execute("INSERT INTO t (a) VALUES (1)")
    db.execute("INSERT INTO nowhere VALUES (1)")
    later = db.execute("SELECT count(*) FROM t")
    with pytest.raises(psycopg.errors.UndefinedTable):
        later.fetchone()
    with pytest.raises(psycopg.InterfaceError):
        later.fetchone()
    db.abandon()
    assert not db.in_transaction
    assert db.execute("SELECT count(*) FROM t").fetchone() == (0,)


def test_a_failure_is_raised_at_the_latest_when_the_transaction_ends(db: PostgresConnection) -> None:
    db.execute("BEGIN")
    db.execute("INSERT INTO nowhere VALUES (1)")
    with pytest.raises(psycopg.errors.UndefinedTable):
        db.execute("COMMIT")
    db.abandon()
    assert db.execute("SELECT 1").fetchone() == (1,)


def test_a_part_of_a_transaction_can_be_taken_back(db: PostgresConnection) -> None:
    db.execute("BEGIN")
    db.execute("INSERT INTO t (a) VALUES (1)")
    db.execute("SAVEPOINT part")
    db.execute("INSERT INTO nowhere VALUES (1)")
    with pytest.raises(psycopg.errors.UndefinedTable):
        db.execute("RELEASE part")
    db.execute("ROLLBACK TO part")
    db.execute("COMMIT")
    assert db.execute("SELECT a FROM t").fetchall() == [(1,)]


def test_a_statement_that_failed_when_it_was_prepared_can_be_sent_again(db: PostgresConnection) -> None:
    for _ in range(3):
        with pytest.raises(psycopg.errors.UndefinedTable):
            db.execute("SELECT x FROM soon").fetchall()
    db.execute("CREATE TEMP TABLE soon (x BIGINT)")
    for _ in range(3):
        assert db.execute("SELECT x FROM soon").fetchall() == []


def test_more_statements_than_are_kept(db: PostgresConnection) -> None:
    for _ in range(2):
        for number in range(450):
            assert db.execute(f"SELECT {number}").fetchone() == (number,)
    kept = db.execute("SELECT count(*) FROM pg_prepared_statements").fetchone()[0]
    assert kept <= 401


def test_much_goes_through_at_once(db: PostgresConnection) -> None:
    """More than the buffers of both sides hold, in both directions, before anything is looked at."""
    big = b"x" * 100_000
    found = [db.execute("SELECT CAST(? AS BYTEA)", (big,)) for _ in range(200)]
    assert all(each.fetchone()[0] == big for each in found)


def test_a_connection_that_was_cut_says_so(db: PostgresConnection, clean_url: str) -> None:
    server().cut(clean_url, {db.execute("SELECT pg_backend_pid()").fetchone()[0]})
    with pytest.raises(psycopg.OperationalError):
        db.execute("SELECT 1").fetchone()
    assert db.broken


def test_what_a_url_says_counts() -> None:
    assert "connect_timeout=5" in conninfo("postgresql://h/d")
    assert "connect_timeout=1" in conninfo("postgresql://h/d?connect_timeout=1&application_name=mine")
    assert "application_name='aster mine'" in conninfo("postgresql://h/d?application_name=mine")
