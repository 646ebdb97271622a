"""Ways through the social graph: from the people a question names, along what holds now, at most three steps.

A way is only as long as it is asked for, never visits anybody twice, and its score is the sum of how often each
step was heard.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

from aster.brain.memory_records import MemoryRow
from aster.contracts.errors import EngineError, ErrorCode

MOST_HOPS: Final = 3
MOST_SEEDS: Final = 3
MOST_WAYS: Final = 2000
CLOSE: Final = 0.7
SHORTEST_SEED: Final = 3


@dataclass(frozen=True, slots=True)
class Way:
    """Edges one after the other, each beginning where the last one ends."""

    edges: tuple[MemoryRow, ...]
    score: int

    def __str__(self) -> str:
        said = f"- ({_shown(self.edges[0].fields['source'])})"
        for edge in self.edges:
            said += f" -[{edge.fields['relation']}]-> ({_shown(edge.fields['target'])})"
        return said + (f" [Score {self.score}]" if self.score > len(self.edges) else "")


def ways(graph: Sequence[MemoryRow], words: Sequence[str], hops: int = MOST_HOPS, limit: int = 20) -> list[Way]:
    """The ways that lead from, to or through what the words name, the strongest first."""
    if not 1 <= hops <= MOST_HOPS:
        raise EngineError(ErrorCode.INVALID_REQUEST, f"Ask for 1 to {MOST_HOPS} hops.", {"hops": hops})
    edges = [row for row in graph if row.kind == "edge"]
    found = seeds([row for row in graph if row.kind == "node"], words)
    out: dict[str, list[MemoryRow]] = {}
    into: dict[str, list[MemoryRow]] = {}
    for edge in edges:
        out.setdefault(edge.fields["source_id"], []).append(edge)
        into.setdefault(edge.fields["target_id"], []).append(edge)
    paths: dict[tuple[str, ...], tuple[MemoryRow, ...]] = {}
    for seed in found:
        after = _walks(seed, out, "target_id", hops)
        before = [tuple(reversed(walk)) for walk in _walks(seed, into, "source_id", hops)]
        through = [(*a, *b) for a in before for b in after if len(a) + len(b) <= hops and _simple((*a, *b))]
        for path in (*after, *before, *through):
            paths.setdefault(tuple(edge.id for edge in path), path)
    found_ways = [Way(path, sum(edge.fields["weight"] for edge in path)) for path in paths.values()]
    return sorted(found_ways, key=lambda way: (-way.score, len(way.edges), str(way)))[:limit]


def seeds(nodes: Sequence[MemoryRow], words: Sequence[str]) -> list[str]:
    """The nodes that words name: exactly, or as a part, or nearly."""
    names: dict[str, str] = {row.fields["name"].casefold(): row.id for row in nodes}
    found: dict[str, None] = {}
    for word in words:
        said = word.casefold().strip()
        if len(said) < SHORTEST_SEED:
            continue
        if said in names:
            found[names[said]] = None
            continue
        parts = sorted((name for name in names if said in name), key=lambda name: (len(name) - len(said), name))
        near = parts[:MOST_SEEDS] or get_close_matches(said, names, n=1, cutoff=CLOSE)
        found |= dict.fromkeys(names[name] for name in near)
    return list(found)


def _walks(start: str, edges: dict[str, list[MemoryRow]], end: str, hops: int) -> list[tuple[MemoryRow, ...]]:
    done: list[tuple[MemoryRow, ...]] = []
    waiting: list[tuple[tuple[MemoryRow, ...], str]] = [((), start)]
    while waiting and len(done) < MOST_WAYS:
        walk, at = waiting.pop(0)
        for edge in edges.get(at, ()):
            longer = (*walk, edge)
            if not _simple(longer):
                continue
            done.append(longer)
            if len(longer) < hops:
                waiting.append((longer, edge.fields[end]))
    return done


def _simple(walk: tuple[MemoryRow, ...]) -> bool:
    """No step leads to where the way has been."""
    ends = [frozenset((edge.fields["source_id"], edge.fields["target_id"])) for edge in walk]
    visited = {name for pair in ends for name in pair}
    return len(visited) == len(walk) + 1


def _shown(name: str) -> str:
    return name[:1].upper() + name[1:]
