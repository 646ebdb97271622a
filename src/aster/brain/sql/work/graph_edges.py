"""What items wait for: edges are put in and the whole is looked at then, in the transaction that is undone when it is
not sound. So nothing half built is ever seen."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from aster.brain.sql.connection import Connection
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.work import WorkEdge

MOST_NEEDS: Final = 100
"""Items that one may wait for."""
_AT_ONCE: Final = 200
_ABOVE: Final = (
    "WITH RECURSIVE above(item_id) AS ("
    "SELECT item_id FROM work_items WHERE user_id = ? AND item_id IN ({}) UNION"
    " SELECT e.needs FROM above a JOIN work_edges e ON e.item_id = a.item_id AND e.user_id = ?)"
    " SELECT e.item_id, e.needs FROM above a JOIN work_edges e ON e.item_id = a.item_id AND e.user_id = ?"
)
"""All edges on the way up from some items."""


def link(db: Connection, user_id: str, edges: Sequence[WorkEdge], *, fresh: bool = False) -> list[WorkEdge]:
    """Put edges in, those that are new; raises `EngineError` when what comes of it cannot be done. `fresh`: they are
    those of items that were made just now, for which nothing but each other can wait yet."""
    _known(db, user_id, edges)
    there: dict[str, set[str]] = {} if fresh else _of(db, user_id, {edge.item_id for edge in edges})
    new = [edge for edge in dict.fromkeys(edges) if edge.needs not in there.get(edge.item_id, ())]
    db.executemany(
        "INSERT INTO work_edges (user_id, item_id, needs) VALUES (?, ?, ?)",
        [(user_id, edge.item_id, edge.needs) for edge in new],
    )
    for edge in new:
        there.setdefault(edge.item_id, set()).add(edge.needs)
    for item_id, needs in there.items():
        if len(needs) > MOST_NEEDS:
            raise unsound(f"{item_id} would wait for {len(needs)} items; {MOST_NEEDS} are the most")
    if new:
        _straight(there if fresh else _above(db, user_id, {edge.item_id for edge in new}))
    return new


def unlink(db: Connection, user_id: str, edges: Sequence[WorkEdge]) -> list[WorkEdge]:
    """Take edges out, those that are there."""
    there = _of(db, user_id, {edge.item_id for edge in edges})
    gone = [edge for edge in dict.fromkeys(edges) if edge.needs in there.get(edge.item_id, ())]
    db.executemany(
        "DELETE FROM work_edges WHERE user_id = ? AND item_id = ? AND needs = ?",
        [(user_id, edge.item_id, edge.needs) for edge in gone],
    )
    return gone


def unsound(problem: str) -> EngineError:
    return EngineError(ErrorCode.INVALID_REQUEST, f"Nothing was changed: {problem}.")


def _known(db: Connection, user_id: str, edges: Sequence[WorkEdge]) -> None:
    for edge in edges:
        if edge.item_id == edge.needs:
            raise unsound(f"{edge.item_id} cannot wait for itself")
    wanted = list(dict.fromkeys(edge.needs for edge in edges))
    found: set[str] = set()
    for at in range(0, len(wanted), _AT_ONCE):
        some = wanted[at : at + _AT_ONCE]
        marks = ", ".join("?" * len(some))
        sql = f"SELECT item_id FROM work_items WHERE user_id = ? AND status <> 'deleted' AND item_id IN ({marks})"
        found |= {row[0] for row in db.execute(sql, (user_id, *some))}
    for needed in wanted:
        if needed not in found:
            raise unsound(f"there is no item {needed} to wait for")


def _of(db: Connection, user_id: str, item_ids: Iterable[str]) -> dict[str, set[str]]:
    """What each of these waits for."""
    found: dict[str, set[str]] = {}
    for item_id in item_ids:
        sql = "SELECT needs FROM work_edges WHERE user_id = ? AND item_id = ?"
        found[item_id] = {row[0] for row in db.execute(sql, (user_id, item_id))}
    return found


def _above(db: Connection, user_id: str, item_ids: Collection[str]) -> dict[str, set[str]]:
    """All that these wait for, by way of others too."""
    marks = ", ".join("?" * len(item_ids))
    edges: dict[str, set[str]] = {}
    for below, above in db.execute(_ABOVE.format(marks), (user_id, *item_ids, user_id, user_id)):
        edges.setdefault(below, set()).add(above)
    return edges


def _straight(edges: Mapping[str, Iterable[str]]) -> None:
    """Refuse when an item would wait for itself by way of others."""
    found = circle(edges)
    if found:
        raise unsound(f"these would wait for each other: {' -> '.join(found)}")


def circle(edges: Mapping[str, Iterable[str]]) -> list[str]:
    """A way that leads back to where it began, if there is one."""
    done: set[str] = set()
    for start in edges:
        way: list[str] = []
        on_way: set[str] = set()
        steps = [iter((start,))]
        while steps:
            step = next(steps[-1], None)
            if step is None:
                steps.pop()
                if way:
                    on_way.discard(way[-1])
                    done.add(way.pop())
            elif step in on_way:
                return [*way[way.index(step) :], step]
            elif step not in done:
                way.append(step)
                on_way.add(step)
                steps.append(iter(edges.get(step, ())))
    return []
