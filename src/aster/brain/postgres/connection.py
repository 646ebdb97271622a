"""A connection to PostgreSQL that runs the brain's queries: statements are sent at once and looked at later.

The connection is in pipeline mode all the time: a statement costs a round trip only when somebody asks for its result,
or when a transaction ends. A failure is raised where a result is asked for next, never lost; after it the connection
is whole, or known to be `broken`. psycopg opens it; the statements go to libpq without a cursor in between, which
costs a tenth.
"""

import logging
import select
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, TypeAlias

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.errors import error_from_result
from psycopg.pq import ConnStatus, ExecStatus, TransactionStatus
from psycopg.pq.abc import PGresult

from aster.brain.postgres.dialect import DIALECT
from aster.brain.postgres.statements import Statement, statement
from aster.brain.postgres.values import BINARY, Load, loaders, packed, rows

log = logging.getLogger("aster.brain")

EVERYBODY: Final = "*"
_PREPARED: Final = 400
_USUAL: Final = {
    "application_name": "aster",
    "connect_timeout": 5,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}
"""What a URL may say otherwise; a server that has gone without a word is noticed within some ten seconds."""


def conninfo(url: str) -> str:
    """Whatever an engine is called, it can be told by its first name."""
    given = conninfo_to_dict(url)
    usual = {name: value for name, value in _USUAL.items() if name not in given}
    if "application_name" in given:
        usual["application_name"] = f"{_USUAL['application_name']} {given['application_name']}"
    return make_conninfo(url, **usual)


class Rows:
    """What a statement gives: known when it is first looked at."""

    __slots__ = ("_at", "_connection", "_count", "_found")

    def __init__(self, connection: "PostgresConnection") -> None:
        self._connection: PostgresConnection | None = connection
        self._found: list[Any] = []
        self._count = -1
        self._at = 0

    def settle(self, found: list[Any], count: int) -> None:
        self._connection, self._found, self._count = None, found, count

    @property
    def settled(self) -> bool:
        """Whether the statement is known to have gone through."""
        return self._connection is None

    def _look(self) -> None:
        if self._connection is not None:
            self._connection.sync()
            if not self.settled:
                raise psycopg.InterfaceError("this statement did not go through, and that was told before")

    @property
    def rowcount(self) -> int:
        self._look()
        return self._count

    def fetchone(self) -> Any:
        self._look()
        if self._at >= len(self._found):
            return None
        self._at += 1
        return self._found[self._at - 1]

    def fetchall(self) -> list[Any]:
        self._look()
        rest, self._at = self._found[self._at :], len(self._found)
        return rest

    def __iter__(self) -> Iterator[Any]:
        return iter(self.fetchall())


class _Prepared:
    """A statement the server knows by name, and how its columns are read once a result has been seen."""

    __slots__ = ("loads", "name")

    def __init__(self, name: bytes) -> None:
        self.name = name
        self.loads: list[Load] | None = None


_Sent: TypeAlias = tuple[Rows | bytes | None, _Prepared | None]
"""What waits for an answer: the rows of a statement and how they are read, or the text of one to be prepared."""


class PostgresConnection:
    dialect = DIALECT

    def __init__(self, url: str, **options: str) -> None:
        """`options` are settings of the session; with `aster.user` among them it is that user's for good."""
        self._psycopg = psycopg.connect(conninfo(url), autocommit=True)
        self._pg = self._psycopg.pgconn
        self._pg.nonblocking = 1
        self._pg.enter_pipeline_mode()
        self._poll = select.poll()
        self._poll.register(self._pg.socket, select.POLLIN)
        self._sent: list[_Sent] = []
        self._prepared: OrderedDict[bytes, _Prepared | None] = OrderedDict()
        self._names = 0
        self._scope = options.get("aster.user", "")
        self.broken = False
        self.touched: set[str] = set()
        try:
            for name, value in options.items():
                self.execute("SELECT set_config(?, ?, false)", (name, value))
            self.sync()
        except psycopg.Error:
            self.close()
            raise

    @property
    def in_transaction(self) -> bool:
        return self._pg.transaction_status != TransactionStatus.IDLE

    def execute(self, sql: str, parameters: Sequence[Any] = (), /) -> Rows:
        found = self.send(sql, parameters)
        if statement(sql).edge:
            self.sync()
        return found

    def send(self, sql: str, parameters: Sequence[Any] = ()) -> Rows:
        """Run a statement and wait for nothing, even where a transaction ends."""
        known = statement(sql)
        if known.begins:
            self.sync()
        if known.table is not None:
            self.touched.add(known.table)
        found = Rows(self)
        try:
            self._send(known, parameters, found)
        except psycopg.OperationalError:
            self.broken = True
            raise
        return found

    def executemany(self, sql: str, parameters: Iterable[Sequence[Any]], /) -> None:
        for values in parameters:
            self.execute(sql, values)

    def serve(self, user_id: str | None) -> None:
        """From now on this connection sees what belongs to this user, or to anybody, and nothing else."""
        scope = EVERYBODY if user_id is None else "=" + user_id
        if scope != self._scope:
            self.execute("SELECT set_config('aster.user', ?, false)", (scope,))
            self._scope = scope

    def _send(self, known: Statement, parameters: Sequence[Any], found: Rows) -> None:
        """A statement that comes for the second time is prepared; the first may be the last."""
        values, formats = packed(parameters)
        text = known.text
        if text in self._prepared:
            way = self._prepared[text] or self._prepare(text)
            self._prepared.move_to_end(text)
            self._pg.send_query_prepared(way.name, values, formats, BINARY)
        else:
            way = self._prepared[text] = None
            self._make_room()
            self._pg.send_query_params(text, values, None, formats, BINARY)
        self._sent.append((found, way))

    def _prepare(self, text: bytes) -> _Prepared:
        self._names += 1
        way = self._prepared[text] = _Prepared(b"s%d" % self._names)
        self._pg.send_prepare(way.name, text)
        self._sent.append((text, None))
        return way

    def _make_room(self) -> None:
        """Forget the statement that was not used for longest, when there are too many."""
        if len(self._prepared) > _PREPARED:
            _, oldest = self._prepared.popitem(last=False)
            if oldest is not None:
                self._pg.send_query_params(b"DEALLOCATE " + oldest.name, None)
                self._sent.append((None, None))

    def sync(self) -> None:
        """Wait for everything that was sent; raise the first failure."""
        if not self._sent:
            return
        sent, self._sent = self._sent, []
        try:
            self._pg.pipeline_sync()
            self._flush()
            failure = self._settle(sent)
        except psycopg.OperationalError:
            self.broken = True
            raise
        if self._pg.status == ConnStatus.BAD:
            self.broken = True
        if failure is not None:
            self._scope = ""
            raise failure

    def _settle(self, sent: list[_Sent]) -> psycopg.Error | None:
        failure: psycopg.Error | None = None
        for item, way in sent:
            result = self._result()
            if result is None:
                raise failure or psycopg.OperationalError("the connection ended in the middle of an answer")
            if result.status == ExecStatus.FATAL_ERROR or result.status == ExecStatus.PIPELINE_ABORTED:
                if failure is None:
                    failure = error_from_result(result)
                if isinstance(item, bytes):
                    self._prepared.pop(item, None)
            elif isinstance(item, Rows):
                self._read(item, way, result)
            while self._result() is not None:
                pass
        self._result()
        return failure

    def _read(self, item: Rows, way: _Prepared | None, result: PGresult) -> None:
        loads = way.loads if way is not None and way.loads is not None else loaders(result)
        if way is not None:
            way.loads = loads
        count = result.command_tuples
        item.settle(rows(result, loads) if loads else [], -1 if count is None else count)

    def _flush(self) -> None:
        while self._pg.flush():
            self._poll.modify(self._pg.socket, select.POLLIN | select.POLLOUT)
            for _, events in self._poll.poll():
                if events & ~select.POLLOUT:
                    self._pg.consume_input()
            self._poll.modify(self._pg.socket, select.POLLIN)

    def _result(self) -> PGresult | None:
        """The next result, waited for without holding up other threads."""
        while self._pg.is_busy():
            self._poll.poll()
            self._pg.consume_input()
        return self._pg.get_result()

    def abandon(self) -> None:
        """Leave no transaction open, whatever came of the statements in it."""
        try:
            self.sync()
        except psycopg.Error as error:
            log.debug("given up: %s", error)
        if not self.broken and self.in_transaction:
            self.execute("ROLLBACK")

    def close(self) -> None:
        self.broken = True
        self._psycopg.close()
