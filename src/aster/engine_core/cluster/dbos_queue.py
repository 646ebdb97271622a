"""The queue of work that any replica may do, kept by DBOS in a schema of its own beside the brain.

Two kinds lie there: turns that nobody has, and chores for an occasion. Each has an id that says what it is, so that it
is put there once, however many find it missing. Everything here blocks; it is called on a thread of its own, because
DBOS must not touch the engine's loop.
"""

import asyncio
import json
import logging
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Final, TypeAlias

from dbos import DBOS, DBOSClient, DBOSConfig, Serializer

SCHEMA: Final = "aster_dbos"
QUEUE: Final = "aster"
VERSION: Final = "1"
"""What replicas of different releases agree on: the names and arguments of work in the queue."""
POLL_SECONDS: Final = 0.2
_PAGE: Final = 500
_LAST_LOOK: Final = 1
"""Seconds for what was just taken from the queue to begin, before the loop it begins on is closed."""
_TURN: Final = "turn"
_CHORE: Final = "chore"

Begin: TypeAlias = Callable[..., "Future[None]"]
"""Begins a piece of work on the engine's loop; done when it is."""


class _Json(Serializer):
    def serialize(self, data: Any) -> str:
        return json.dumps(data)

    def deserialize(self, serialized_data: str) -> Any:
        return json.loads(serialized_data)

    def name(self) -> str:
        return "aster_json"


class DbosQueue:
    """`room` is how much of it one replica does at a time."""

    def __init__(self, url: str, replica: str, room: int) -> None:
        self._url = url
        self._replica = replica
        self._room = room
        self._client: DBOSClient | None = None

    def open(self, turn: Begin, chore: Begin) -> None:
        """Take work from now on: `turn` and `chore` begin what was put there. There is one such queue in a process."""
        config: DBOSConfig = {
            "name": "aster",
            "system_database_url": self._url,
            "dbos_system_schema": SCHEMA,
            "executor_id": self._replica,
            "application_version": VERSION,
            "serializer": _Json(),
            "log_level": "ERROR",
            "sys_db_pool_size": 4,
            "use_listen_notify": False,
            "enable_otlp": False,
            "notification_listener_polling_interval_sec": 0.2,
        }
        DBOS(config=config)
        log = logging.getLogger("dbos")
        log.handlers.clear()
        log.propagate = True
        _register(_TURN, turn)
        _register(_CHORE, chore)
        DBOS.launch()
        DBOS.register_queue(
            QUEUE,
            worker_concurrency=self._room,
            polling_interval_sec=POLL_SECONDS,
            on_conflict="always_update",
        )
        self._client = DBOSClient(
            system_database_url=self._url,
            dbos_system_schema=SCHEMA,
            serializer=_Json(),
            system_database_pool_size=4,
            application_name="aster",
            retry_connection_errors=False,
        )

    def put_turn(self, name: str, *given: Any) -> None:
        self._put(_TURN, f"turn:{name}", given)

    def has_turn(self, prefix: str) -> bool:
        """Whether a turn lies there."""
        found = self._open().list_workflows(
            workflow_id_prefix=f"turn:{prefix}",
            status="ENQUEUED",
            limit=1,
            load_input=False,
            load_output=False,
        )
        return bool(found)

    def put_chore(self, name: str, *given: Any) -> None:
        self._put(_CHORE, f"chore:{name}", given)

    def _put(self, kind: str, name: str, given: tuple[Any, ...]) -> None:
        self._open().enqueue(
            {"workflow_name": kind, "queue_name": QUEUE, "workflow_id": name, "app_version": VERSION}, *given
        )

    def busy(self) -> dict[str, str]:
        """What is being done, and by which replica."""
        found = self._open().list_workflows(status="PENDING", load_input=False, load_output=False)
        return {work.workflow_id: work.executor_id or "" for work in found}

    def abandon(self, names: list[str]) -> None:
        """Whoever did this is dead: chores are put back, turns are found by their threads."""
        client = self._open()
        chores = [name for name in names if name.startswith("chore:")]
        turns = [name for name in names if not name.startswith("chore:")]
        if chores:
            client.resume_workflows(chores, queue_name=QUEUE)
        if turns:
            client.cancel_workflows(turns)

    def forget_old(self, before: str) -> None:
        """Drop what was done before a time (ISO 8601)."""
        client = self._open()
        while True:
            old = client.list_workflows(
                status=["SUCCESS", "ERROR", "CANCELLED"],
                completed_before=before,
                limit=_PAGE,
                load_input=False,
                load_output=False,
            )
            if old:
                client.delete_workflows([work.workflow_id for work in old])
            if len(old) < _PAGE:
                return

    def close(self) -> None:
        """Take no more work. What is being done goes on, and can still be put back."""
        DBOS.destroy(destroy_registry=True, workflow_completion_timeout_sec=_LAST_LOOK)

    def hang_up(self) -> None:
        if self._client is not None:
            self._client.destroy()
            self._client = None

    def _open(self) -> DBOSClient:
        assert self._client is not None, "opened before it is used"
        return self._client


def _register(name: str, begin: Begin) -> None:
    """DBOS runs it on a loop of its own; it waits there for the engine's."""

    async def work(*given: Any) -> None:
        await asyncio.wrap_future(begin(*given))

    DBOS.workflow(name=name)(work)
