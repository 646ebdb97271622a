"""Finding passages in the documents of a conversation: by their words, and by what memory knows of their meaning.

Every part of the documents asked about is looked at, so however much else a user has, a part that says it is found.
"""

import asyncio
import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from aster.brain.memory_records import DocumentPart
from aster.memory.memory import Memory
from aster.memory.passages.words import asked, words

NEAR: Final = 50
"""How many parts memory is asked for by meaning, over all of a user's documents."""
_K1, _B = 1.2, 0.75
_RANK: Final = 5.0


@dataclass(frozen=True, slots=True)
class Passage:
    document: str
    part: DocumentPart
    score: float


async def passages(memory: Memory, user_id: str, documents: Sequence[str], query: str, limit: int) -> list[Passage]:
    """The parts that fit a question best, the best first."""
    places: dict[str, tuple[str, DocumentPart]] = {}
    for document in documents:
        places |= {part.id: (document, part) for part in await memory.parts_of(user_id, document)}
    texts = {name: part.text for name, (_, part) in places.items()}
    by_words = await asyncio.to_thread(ranked, texts, query)
    answer = await memory.search(user_id, query, ("documents",), limit=NEAR, isolated=True)
    by_meaning = [match.row.id for match in answer.stores["documents"] if match.row.id in places]
    scores: defaultdict[str, float] = defaultdict(float)
    for order in (by_words, by_meaning):
        for rank, name in enumerate(order):
            scores[name] += 1 / (_RANK + rank)
    best = sorted(scores, key=lambda name: (-scores[name], places[name][1].position))
    return [Passage(*places[name], round(scores[name], 4)) for name in best[:limit]]


def ranked(texts: dict[str, str], query: str) -> list[str]:
    """The names of the texts that share a word with the question, by BM25."""
    terms = asked(query)
    counts = {name: Counter(words(text)) for name, text in texts.items()}
    lengths = {name: max(1, count.total()) for name, count in counts.items()}
    usual = sum(lengths.values()) / max(1, len(lengths))
    scores: defaultdict[str, float] = defaultdict(float)
    for term in terms:
        having = [name for name, count in counts.items() if term in count]
        rarity = math.log(1 + (len(texts) - len(having) + 0.5) / (len(having) + 0.5))
        for name in having:
            often = counts[name][term]
            scores[name] += rarity * often * (_K1 + 1) / (often + _K1 * (1 - _B + _B * lengths[name] / usual))
    return sorted(scores, key=lambda name: -scores[name])
