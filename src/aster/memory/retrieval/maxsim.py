"""How well a record answers each word of a question, by the vectors of its tokens.

Every token of the question looks for its best match in the record; rare words count for more, as in BM25. The tokens
of a record are kept as signs, 48 bytes each instead of 1,536: as long as the question stays exact, that finds as much.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from aster.brain.memory_words import words
from aster.memory.retrieval.product import product
from aster.memory.retrieval.rows import Floats, Ints

MOST_TOKENS = 254


def packed(tokens: Floats) -> NDArray[np.uint8]:
    """Token vectors as they are kept: one bit per number."""
    return np.packbits(tokens[:MOST_TOKENS] > 0, axis=1)


def rarities(
    said: Sequence[str], frequencies: Mapping[str, int], records: int, unknown: float = 1.0
) -> NDArray[np.float32]:
    """The weight of each token by how many records have its word; the pieces of one word share its weight. A word that
    no record has counts `unknown` times what its rarity says."""
    out = np.zeros(len(said), np.float32)
    for place, word in enumerate(said):
        have = min((frequencies.get(stem, 0) for stem in words(word)), default=records)
        have = min(have, records)
        out[place] = (unknown if not have else 1.0) * math.log(1 + (records - have + 0.5) / (have + 0.5))
    return out


def best_matches(question: Floats, records: Sequence[NDArray[np.uint8]]) -> Floats:
    """For each record, how near its best token is to each token of the question: 0 to about 0.8."""
    lengths = np.array([len(tokens) for tokens in records])
    dimensions = question.shape[1]
    bits = np.unpackbits(np.concatenate(records), axis=1, count=dimensions)
    sums = product(bits.astype(np.float32), question.T)
    nearness = (2 * sums - question.sum(axis=1)) / math.sqrt(dimensions)
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    return np.maximum.reduceat(nearness, starts, axis=0)


def replied(matches: Floats, previous: Ints, share: float) -> Floats:
    """The same, when a record also has a share of what the one before it says, which it may be the reply to. `previous`
    says which row that is, -1 for none."""
    return np.where((previous >= 0)[:, None], np.maximum(matches, share * matches[previous]), matches)


def weighted(matches: Floats, weights: Floats) -> NDArray[np.float64]:
    """One number per record: how well it matches all tokens, each by its weight."""
    return (matches @ weights / max(float(weights.sum()), 1e-9)).astype(np.float64)
