"""Users' shelves in memory: vectors and columns, read from the brain once and then only what is new.

Before every search a shelf asks the brain how far it has come and follows: it never holds what was forgotten or
replaced, whichever replica did that. A shelf is used by one thread at a time; those used longest ago are let go when
all together grow too large.
"""

from collections import OrderedDict
from collections.abc import Collection, Iterable, Mapping, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Final, TypeAlias

from aster.brain.memory_kinds import Store
from aster.brain.memory_protocol import ShelfReader
from aster.brain.memory_records import Column, MemoryRow, ShelfState
from aster.memory.retrieval.shelf import Item

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from aster.memory.retrieval.rows import Rows

Place: TypeAlias = tuple[str, Store]

MOST_BYTES: Final = 1 << 30
PER_RECORD: Final = 280
"""Bytes of a record besides its vector: columns, and its entry in the tables of numbers."""
_AT_ONCE: Final = 5000
NOTHING: Final = ShelfState(0, 0, 0, 0)


def size_of(records: int, dimensions: int) -> int:
    """Bytes that so many records take."""
    return records * (PER_RECORD + dimensions * 9 // 8)


class Kept:
    """One shelf: what of it is in memory, and up to where it was read."""

    def __init__(self, rows: "Rows", model: int) -> None:
        self.rows = rows
        self.model = model
        self.lock = Lock()
        self.state = NOTHING
        self.lengths: dict[int, int] = {}
        self.broken: list[int] = []

    @property
    def size(self) -> int:
        return size_of(len(self.rows), self.rows.dimensions)

    def refresh(self, reader: ShelfReader, steps: int | None = None) -> bool:
        """Read what came since the last time: new records, vectors that were made meanwhile, and what was touched.
        With `steps`, no more than so many thousands; says whether that was all."""
        now = reader.state(self.model)
        if now == self.state:
            return True
        if now is None or now.shelf != self.state.shelf or now.touched < self.state.touched:
            self._clear(now)
        if now is None:
            return True
        while self.state.number < now.number:
            new = reader.columns(self.state.number, _AT_ONCE)
            if not new:
                self.state = self.state._replace(number=now.number)
                break
            self.take(new, reader.vectors_of(self.model, [column.number for column in new]))
            self.state = self.state._replace(number=new[-1].number)
            steps = None if steps is None else steps - 1
            if steps == 0:
                return False
        while self.state.place < now.place and (found := reader.vectors(self.model, self.state.place, _AT_ONCE)):
            vectors = {row.number: row.vector for row in found}
            if there := reader.columns_of(list(vectors)):
                self.take(there, vectors)
            self.state = self.state._replace(place=found[-1].place)
        self.state = self.state._replace(place=max(self.state.place, now.place))
        return self.state.touched >= now.touched or self._follow(reader) or self.refresh(reader, steps)

    def _follow(self, reader: ShelfReader) -> bool:
        """Look at what was touched again; False when too much was, so that all has to be read anew."""
        found = reader.touched(self.state.shelf, self.state.touched)
        if not found or found[0][0] != self.state.touched + 1:
            self._clear(None)
            return False
        numbers = [number for _, number in found]
        there = reader.columns_of(numbers)
        self._remove(set(numbers).difference(column.number for column in there))
        if there:
            self.take(there, reader.vectors_of(self.model, [column.number for column in there]))
        self.state = self.state._replace(touched=found[-1][0])
        return True

    def _clear(self, now: ShelfState | None) -> None:
        """Hold nothing: what is read from here on is as it was after all that was touched, and has its vectors."""
        self.rows = type(self.rows)(self.rows.dimensions)
        self.lengths.clear()
        self.state = NOTHING if now is None else now._replace(number=0)

    def _remove(self, numbers: Iterable[int]) -> None:
        gone = list(numbers)
        self.rows.remove(gone)
        for number in gone:
            self.lengths.pop(number, None)

    def take(self, columns: Sequence[Column], vectors: Mapping[int, bytes]) -> None:
        """Records with their vectors; one without, or with a broken one, is as near to everything."""
        import numpy as np

        size = 2 * self.rows.dimensions
        nothing = bytes(size)
        given = [vectors.get(column.number, b"") for column in columns]
        whole = b"".join(vector if len(vector) == size else nothing for vector in given)
        matrix = np.frombuffer(whole, "<f2").astype(np.float32).reshape(len(columns), -1)
        lengths = np.linalg.norm(matrix, axis=1)
        good = (lengths > 0.9) & (lengths < 1.1)
        matrix[~good] = 0.0
        self.broken += [
            column.number
            for column, fine in zip(columns, good, strict=True)
            if not fine and column.number in vectors
        ]
        self.lengths |= {column.number: column.words for column in columns}
        self.rows.add([Item(c.number, "", c.who, c.when, c.session, c.position) for c in columns], matrix)


class KeptShelf:
    """A shelf as ranking sees it: what is in memory, and the brain's reader for the rest."""

    def __init__(self, kept: Kept, reader: ShelfReader) -> None:
        self._kept = kept
        self._reader = reader
        self.found: dict[int, MemoryRow] = {}

    def rows(self) -> "Rows":
        return self._kept.rows

    def keyword(self, terms: Sequence[str], limit: int) -> Mapping[int, float]:
        return self._reader.keyword(terms, limit, self._kept.lengths)

    def frequencies(self, terms: Collection[str]) -> Mapping[str, int]:
        return self._reader.frequencies(terms)

    def items(self, ids: Sequence[int]) -> Sequence[Item]:
        self.found |= {row.number: row for row in self._reader.records(ids)}
        return [_item(self.found[number]) for number in ids if number in self.found]

    def tokens(self, ids: Sequence[int]) -> "Mapping[int, NDArray[np.uint8]]":
        import numpy as np

        width = -(-self._kept.rows.dimensions // 8)
        found = self._reader.tokens(self._kept.model, ids)
        return {
            number: np.frombuffer(packed, np.uint8).reshape(-1, width)
            for number, packed in found.items()
            if packed and len(packed) % width == 0
        }

    def names(self) -> frozenset[str]:
        return frozenset(self._reader.names())


class Shelves:
    """All shelves that are in memory."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self.most_bytes = most_bytes
        self._kept: OrderedDict[Place, Kept] = OrderedDict()
        self._lock = Lock()

    def kept(self, place: Place, model: int, dimensions: int) -> Kept:
        """The shelf at a place; an empty one when it is not here, or was made with another model's vectors."""
        from aster.memory.retrieval.rows import Rows

        with self._lock:
            found = self._kept.get(place)
            if found is None or found.model != model or found.rows.dimensions != dimensions:
                found = self._kept[place] = Kept(Rows(dimensions), model)
            self._kept.move_to_end(place)
            while len(self._kept) > 1 and sum(kept.size for kept in self._kept.values()) > self.most_bytes:
                self._kept.popitem(last=False)
            return found

    def drop(self, user_id: str) -> None:
        """Read this user's shelves anew when they are next asked for."""
        with self._lock:
            for place in [place for place in self._kept if place[0] == user_id]:
                del self._kept[place]


def _item(row: MemoryRow) -> Item:
    who = str(row.fields[row.about.who]) if row.about.who else ""
    among, at = map(row.fields.__getitem__, row.about.beside) if row.about.beside else (row.task_id, row.first_seq)
    return Item(
        row.number, row.text, who, row.event_at, str(among), int(at), row.uses, row.last_used_at, row.confidence
    )
