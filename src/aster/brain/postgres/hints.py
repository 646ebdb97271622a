"""Hints from one replica to the others, over NOTIFY: which threads and tables a commit has touched, never what is in
them. A hint that would be too long says only that something has changed."""

from collections.abc import Iterable
from typing import Final

import msgspec

from aster.brain.changes import Change
from aster.brain.postgres.values import kept
from aster.brain.records import ThreadKey

CHANNEL: Final = "aster"
_MOST: Final = 7900
SEND: Final = f"SELECT set_config('synchronous_commit', 'off', true), pg_notify('{CHANNEL}', ?)"
"""In a transaction of its own, after the commit it tells of: NOTIFY holds a lock of the whole database until its
transaction has ended, and so must not wait for the disk."""


class Hint(msgspec.Struct, array_like=True, frozen=True):
    replica: str
    threads: list[tuple[str, str]] = []
    tables: list[str] = []
    everything: bool = False

    def change(self) -> Change:
        threads = frozenset(ThreadKey(*key) for key in self.threads)
        return Change(threads, frozenset(self.tables), self.everything)


_DECODER: Final = msgspec.json.Decoder(Hint)


def written(replica: str, threads: Iterable[ThreadKey], tables: Iterable[str]) -> str:
    text = msgspec.json.encode(
        Hint(replica, [(kept(user_id), kept(task_id)) for user_id, task_id in threads], sorted(tables))
    )
    return text.decode() if len(text) <= _MOST else anything(replica)


def anything(replica: str) -> str:
    """It is not known, or too much to say, what was touched."""
    return msgspec.json.encode(Hint(replica, everything=True)).decode()


def read(text: bytes) -> Hint:
    """What somebody said; one that cannot be read, of another version or of nobody's, may mean anything."""
    try:
        return _DECODER.decode(text)
    except msgspec.DecodeError:
        return Hint("", everything=True)
