"""The records of one shelf that a question may be about, and how well each fits: by its words, by its meaning, by who
said it and when, by what stands beside it, and by the session it belongs to.

Every measure is taken in standard deviations over the pool before they are added, and the pool has about the same
size whether the shelf holds a hundred records or a million: the weights mean the same everywhere.
"""

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from aster.memory.retrieval.query import Query
from aster.memory.retrieval.rows import Floats, Ints, Rows
from aster.memory.retrieval.tuning import Tuning

Scores: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Pool:
    """Candidates in the order of their places, with what is known of each."""

    places: Ints
    words: Scores
    cosines: Scores
    scores: Scores


def gathered(rows: Rows, query: Query, lexical: dict[int, float], vector: Floats | None, tuning: Tuning) -> Pool:
    """The records that share words, are near in meaning, or lie in the time asked for; and those beside them. When
    anything from that time will do, those alone."""
    if query.window is not None and query.anything:
        lexical, places = {}, np.sort(rows.within(query.window.start, query.window.end, tuning.pool))
    else:
        places = _candidates(rows, query, lexical, vector, tuning)
    words = np.array([lexical.get(number, 0.0) for number in rows.ids(places).tolist()])
    cosines = np.zeros(len(places)) if vector is None else _near(rows, places, vector)
    return Pool(places, words, cosines, _scored(rows, query, places, words, cosines, tuning))


def _near(rows: Rows, places: Ints, vector: Floats) -> Scores:
    """How near in meaning each is; one whose vector is still to be made is taken as average, not as far away."""
    near, known = rows.cosines(places, vector).astype(np.float64), rows.embedded(places)
    return np.where(known, near, near[known].mean() if known.any() else 0.0)


def _candidates(rows: Rows, query: Query, lexical: dict[int, float], vector: Floats | None, tuning: Tuning) -> Ints:
    parts = [rows.places(lexical)]
    if vector is not None:
        parts.append(rows.nearest(vector, tuning.pool))
    if query.window is not None:
        parts.append(rows.within(query.window.start, query.window.late, tuning.pool))
    found = np.unique(np.concatenate(parts))
    beside = np.concatenate(rows.beside(found)).astype(np.int64) if len(found) else found
    return np.unique(np.concatenate([found, beside[beside >= 0]]))


def standard(values: Scores) -> Scores:
    """In standard deviations from the mean; nothing where all are alike."""
    spread = values.std() if len(values) else 0.0
    return (values - values.mean()) / spread if spread > 1e-9 else np.zeros(len(values))


def _scored(rows: Rows, query: Query, places: Ints, words: Scores, cosines: Scores, tuning: Tuning) -> Scores:
    own = tuning.words * standard(words) + tuning.meaning * standard(cosines)
    if query.people:
        own = own + tuning.speaker * rows.said_by(places, query.people)
    if query.window is not None:
        when = rows.when(places)
        inside = (when >= query.window.start) & (when < query.window.end)
        late = (when >= query.window.end) & (when < query.window.late)
        own = own + tuning.time * (inside + 0.5 * late)
    before, after = (_looked_up(own, places, beside) for beside in rows.beside(places))
    own = own + tuning.before * before + tuning.after * after
    return own + tuning.session * standard(_of_the_session(own, rows.sessions(places)))


def _looked_up(own: Scores, places: Ints, wanted: NDArray[np.int32]) -> Scores:
    """The scores of other places; 0, the mean, for those that are not in the pool."""
    at = np.minimum(np.searchsorted(places, wanted), max(len(places) - 1, 0))
    return np.where(places[at] == wanted, own[at], 0.0) if len(places) else own


def _of_the_session(own: Scores, sessions: NDArray[Any]) -> Scores:
    """How well the best of the other records of its session fits; the mean for a record that is alone."""
    order = np.lexsort((-own, sessions))
    ordered, scores = sessions[order], own[order]
    first = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]])) if len(own) else order
    sizes = np.diff(np.concatenate([first, [len(own)]]))
    best = np.repeat(scores[first], sizes)
    second = np.repeat(np.where(sizes > 1, scores[np.minimum(first + 1, len(own) - 1)], np.nan), sizes)
    is_best = np.zeros(len(own), np.bool_)
    is_best[first] = True
    others = np.where(is_best, second, np.where(np.repeat(sizes, sizes) > 1, best, np.nan))
    out = np.empty(len(own))
    out[order] = others
    known = ~np.isnan(out)
    return np.where(known, out, out[known].mean() if known.any() else 0.0)
