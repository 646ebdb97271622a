"""One question against one shelf: the records that answer it, the best first, or none.

Deterministic: the same shelf, question and moment give the same answer, and of equal scores the older record wins.
A question compared without a model (`reading` is None) is ranked by words, people and time alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from aster.brain.memory_words import words as stems
from aster.memory.embeddings.embedder import Reading
from aster.memory.retrieval.diversity import spread_out
from aster.memory.retrieval.evidence import JUDGED, Evidence, Judged, weighed
from aster.memory.retrieval.gate import relevance
from aster.memory.retrieval.maxsim import best_matches, rarities, replied, weighted
from aster.memory.retrieval.pool import Pool, Scores, gathered, standard
from aster.memory.retrieval.query import Query
from aster.memory.retrieval.rows import Floats, Ints, Rows
from aster.memory.retrieval.shelf import Item, Shelf
from aster.memory.retrieval.strength import doubted, faded
from aster.memory.retrieval.tuning import TUNING, Tuning

_QUESTION_MARKS: Final = ("?", "？", "؟")


@dataclass(frozen=True, slots=True)
class Hit:
    """A record that was found, its score, and what the score is made of."""

    item: Item
    score: float
    reasons: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Found:
    """The hits in their order; none when `relevance`, below 0, says that nothing here answers the question."""

    hits: tuple[Hit, ...]
    relevance: float
    evidence: Evidence


def search(
    shelf: Shelf, query: Query, reading: Reading | None, now: int, limit: int = 20, tuning: Tuning = TUNING
) -> Found:
    """The `limit` best records for a question; `now` is in milliseconds."""
    rows = shelf.rows()
    said = reading.words if reading is not None else []
    frequencies = shelf.frequencies({*query.terms, *(stem for word in said for stem in stems(word))})
    lexical = dict(shelf.keyword(affordable(query.terms, frequencies, tuning.postings), tuning.pool))
    pool = gathered(rows, query, lexical, None if reading is None else reading.vector, tuning)
    items, order = _leading(shelf, rows, pool, max(tuning.reranked, limit))
    previous = _previous(rows, pool.places[order])
    matches, length = _token_matches(shelf, items, reading)
    tokens: Scores | None = None
    if matches is not None:
        matches = replied(matches, previous, tuning.reply)
        tokens = weighted(matches, rarities(said, frequencies, len(rows), tuning.unknown))
    scores = _reranked(pool.scores[order], tokens, items, now, tuning)
    ranked = np.lexsort((np.array([item.id for item in items], np.int64), -scores))
    ranked = spread_out(ranked, rows.vectors(pool.places[order]), tuning.alike)
    judged = Judged(items, order, previous, matches, length, ranked[:JUDGED])
    evidence = weighed(query, said, frequencies, rows, pool, judged)
    sure = relevance(evidence)
    kept: list[int] = ranked[:limit].tolist() if sure >= 0 or not tuning.gate else []
    return Found(
        tuple(_hit(items[at], float(scores[at]), pool, int(order[at]), tokens, at) for at in kept), sure, evidence
    )


def affordable(terms: Sequence[str], frequencies: Mapping[str, int], postings: int) -> tuple[str, ...]:
    """The rarest words whose records together are few enough to look at; the rarest one in any case."""
    out: list[str] = []
    for term in sorted(terms, key=lambda term: (frequencies.get(term, 0), term)):
        postings -= frequencies.get(term, 0)
        if out and postings < 0:
            break
        out.append(term)
    return tuple(out)


def _leading(shelf: Shelf, rows: Rows, pool: Pool, most: int) -> tuple[list[Item], Ints]:
    """The best of the pool that are still there, and where in the pool they are."""
    order = np.lexsort((rows.ids(pool.places), -pool.scores))[:most]
    numbers = rows.ids(pool.places[order]).tolist()
    known = {item.id: item for item in shelf.items(numbers)}
    there = np.array([number in known for number in numbers], np.bool_)
    return [known[number] for number in numbers if number in known], order[there]


def _previous(rows: Rows, places: Ints) -> Ints:
    """Where among these the record before each one is; -1 where it is not among them."""
    at = {place: number for number, place in enumerate(places.tolist())}
    return np.array([at.get(place, -1) for place in rows.beside(places)[0].tolist()], np.int64)


def _token_matches(shelf: Shelf, items: Sequence[Item], reading: Reading | None) -> tuple[Floats | None, float]:
    """How well each token of the question is matched by each record, and how many tokens a record has; one without
    token vectors is taken as average. None when there is nothing to compare."""
    if reading is None or not len(reading.tokens):
        return None, 0.0
    kept = shelf.tokens([item.id for item in items])
    known = [place for place, item in enumerate(items) if item.id in kept]
    if not known:
        return None, 0.0
    found = best_matches(reading.tokens, [kept[items[place].id] for place in known])
    out = np.tile(found.mean(axis=0), (len(items), 1))
    out[known] = found
    return out, sum(map(len, kept.values())) / len(kept)


def _reranked(scores: Scores, tokens: Scores | None, items: Sequence[Item], now: int, tuning: Tuning) -> Scores:
    """The order among the best: how tokens match counts too, a question answers nothing, and what is old has faded."""
    out = standard(scores)
    if tokens is not None:
        out = out + tuning.tokens * standard(tokens)
    asking = np.array([item.text.rstrip().endswith(_QUESTION_MARKS) for item in items], np.float64)
    fading = np.array([faded(now, item.when, item.uses, item.used) for item in items], np.float64)
    doubts = np.array([doubted(item.confidence) for item in items], np.float64)
    return out - tuning.asking * asking - fading - doubts


def _hit(item: Item, score: float, pool: Pool, at: int, tokens: Scores | None, place: int) -> Hit:
    reasons = {"words": float(pool.words[at]), "cosine": float(pool.cosines[at])}
    if tokens is not None:
        reasons["tokens"] = float(tokens[place])
    return Hit(item, score, {name: round(value, 4) for name, value in reasons.items()})
