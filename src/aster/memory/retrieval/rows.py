"""The records of a shelf as columns in memory: vectors in eight bits, their signs in one, and who, when and where.

A question compares its signs with all of them, a few machine words per record, and then measures the likely ones
exactly: half a kilobyte per record is enough for any size. Rows keep the order in which they came; a record that goes
is marked, and its room given back when a quarter of the rows are such.
"""

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from aster.memory.retrieval.product import product
from aster.memory.retrieval.shelf import Item

Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float32]

_EXACT = 2048
_FEWEST = 64


class Rows:
    """Columns of equal length. Places in them are valid until the next change."""

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions
        self._count = self._gone = 0
        self._of: dict[int, int] = {}
        self._sessions: dict[str, int] = {}
        self._people: dict[str, int] = {}
        self._linked = 0
        self._columns: dict[str, NDArray[Any]] = {
            "id": np.zeros(0, np.int64),
            "vector": np.zeros((0, dimensions), np.int8),
            "scale": np.zeros(0, np.float32),
            "session": np.zeros(0, np.int32),
            "position": np.zeros(0, np.int64),
            "who": np.zeros(0, np.int32),
            "when": np.zeros(0, np.int64),
            "before": np.zeros(0, np.int32),
            "after": np.zeros(0, np.int32),
            "there": np.zeros(0, np.bool_),
        }
        self._signs = [f"signs{number}" for number in range((dimensions + 63) // 64)]
        self._columns |= {name: np.zeros(0, np.uint64) for name in self._signs}

    def __len__(self) -> int:
        return self._count - self._gone

    def add(self, items: Sequence[Item], vectors: Floats) -> None:
        """Records at the end; one whose number is known takes the place of the old one."""
        self.remove([item.id for item in items if item.id in self._of])
        start, end = self._count, self._count + len(items)
        self._grow(end)
        column = self._columns
        column["id"][start:end] = [item.id for item in items]
        column["session"][start:end] = [self._session(item) for item in items]
        column["position"][start:end] = [item.position for item in items]
        column["who"][start:end] = [self._people.setdefault(i.who.casefold(), len(self._people)) for i in items]
        column["when"][start:end] = [item.when for item in items]
        column["there"][start:end] = True
        for name, word in zip(self._signs, signs(vectors).T, strict=True):
            column[name][start:end] = word
        largest = np.maximum(np.abs(vectors).max(axis=1, initial=0.0), 1e-9)
        column["scale"][start:end] = largest / 127
        column["vector"][start:end] = np.rint(vectors * (127 / largest)[:, None])
        self._of.update((item.id, start + place) for place, item in enumerate(items))
        self._count = end

    def remove(self, ids: Iterable[int]) -> None:
        places = [self._of.pop(number) for number in ids if number in self._of]
        if not places:
            return
        self._columns["there"][places] = False
        self._columns["vector"][places] = 0
        for name in self._signs:
            self._columns[name][places] = 0
        self._gone += len(places)
        self._linked = 0
        if self._gone * 4 > self._count > _FEWEST:
            self._close_ranks()

    def places(self, ids: Iterable[int]) -> Ints:
        """Where these records are; those that are not here are left out."""
        return np.array([self._of[number] for number in ids if number in self._of], np.int64)

    def ids(self, places: Ints) -> Ints:
        return self._columns["id"][places]

    def sessions(self, places: Ints) -> NDArray[np.int32]:
        return self._columns["session"][places]

    def when(self, places: Ints) -> Ints:
        return self._columns["when"][places]

    def said_by(self, places: Ints, people: Iterable[str]) -> NDArray[np.bool_]:
        wanted = [self._people[name.casefold()] for name in people if name.casefold() in self._people]
        return np.isin(self._columns["who"][places], wanted)

    def within(self, start: int, end: int, limit: int) -> Ints:
        """The latest records of a span of time, at most `limit`."""
        when = self._columns["when"][: self._count]
        found = np.flatnonzero(self._columns["there"][: self._count] & (when >= start) & (when < end))
        return found[np.argsort(-when[found], kind="stable")[:limit]]

    def beside(self, places: Ints) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The records before and after each in its session; -1 where there is none."""
        self._link()
        return self._columns["before"][places], self._columns["after"][places]

    def nearest(self, vector: Floats, limit: int) -> Ints:
        """The records nearest in meaning, without order: exactly so among those whose signs agree the most."""
        there = np.flatnonzero(self._columns["there"][: self._count])
        most = max(_EXACT, limit)
        if len(there) > most:
            apart = np.zeros(self._count, np.uint16)
            for name, word in zip(self._signs, signs(vector[None, :])[0], strict=True):
                apart += np.bitwise_count(self._columns[name][: self._count] ^ word)
            apart[~self._columns["there"][: self._count]] = np.iinfo(np.uint16).max
            there = _least(apart, most)
        return there[_least(-self.cosines(there, vector), limit)]

    def cosines(self, places: Ints, vector: Floats) -> Floats:
        """How near these records are to a vector."""
        near = product(self._columns["vector"][places].astype(np.float32), vector[:, None])[:, 0]
        return near * self._columns["scale"][places]

    def embedded(self, places: Ints) -> NDArray[np.bool_]:
        """Which of these have a vector by now."""
        return np.any(self._columns["vector"][places] != 0, axis=1).astype(np.bool_)

    def vectors(self, places: Ints) -> Floats:
        return self._columns["vector"][places] * self._columns["scale"][places][:, None]

    def _session(self, item: Item) -> int:
        """A number for its session; one of its own, below zero, for a record that belongs to none."""
        if not item.session:
            return -1 - item.id % (1 << 31)
        return self._sessions.setdefault(item.session, len(self._sessions))

    def _grow(self, count: int) -> None:
        room = len(self._columns["id"])
        if count > room:
            wanted = max(count, room + room // 4, _FEWEST)
            for name, old in self._columns.items():
                new = np.zeros((wanted, *old.shape[1:]), old.dtype)
                new[: self._count] = old[: self._count]
                self._columns[name] = new

    def _link(self) -> None:
        """Neighbours, once for many changes. What was added at the ends of sessions joins without sorting all."""
        if self._linked == self._count:
            return
        session, position = self._columns["session"][: self._count], self._columns["position"][: self._count]
        touched = np.unique(session[self._linked :])
        old = np.isin(session[: self._linked], touched)
        rows = np.concatenate([np.flatnonzero(old), np.arange(self._linked, self._count)])
        rows = rows[self._columns["there"][rows]]
        rows = rows[np.lexsort((self._columns["id"][rows], position[rows], session[rows]))]
        before, after = self._columns["before"], self._columns["after"]
        before[rows] = after[rows] = -1
        together = session[rows[1:]] == session[rows[:-1]]
        before[rows[1:][together]] = rows[:-1][together]
        after[rows[:-1][together]] = rows[1:][together]
        self._linked = self._count

    def _close_ranks(self) -> None:
        kept = np.flatnonzero(self._columns["there"][: self._count])
        self._columns = {name: column[kept] for name, column in self._columns.items()}
        self._count, self._gone, self._linked = len(kept), 0, 0
        self._of = {int(number): place for place, number in enumerate(self._columns["id"])}


def signs(vectors: Floats) -> NDArray[np.uint64]:
    """One bit per number, in machine words."""
    packed = np.packbits(vectors > 0, axis=1)
    wide = (-packed.shape[1]) % 8
    return np.ascontiguousarray(np.pad(packed, ((0, 0), (0, wide)))).view(np.uint64)


def _least(values: NDArray[Any], limit: int) -> Ints:
    """Where the smallest values are, in their order; of equal ones, those that come first."""
    if len(values) <= limit:
        return np.arange(len(values))
    edge = np.partition(values, limit - 1)[limit - 1]
    below = np.flatnonzero(values < edge)
    return np.sort(np.concatenate([below, np.flatnonzero(values == edge)[: limit - len(below)]]))
