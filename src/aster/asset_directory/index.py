"""Finding a tool among many by what it should do: by its words, and by meaning where there are vectors.

Words that name a tool count more than words that describe it; both scores are brought to the same scale and added, so
that either alone can find something. Vectors are made when questions are asked, a few at a time and each once.
"""

import math
from collections import Counter
from collections.abc import Sequence
from time import monotonic
from typing import TYPE_CHECKING, Final

from aster.contracts.tools import ToolDef
from aster.memory.embeddings.embedder import Embedder, EmbeddingsUnavailable
from aster.memory.passages.words import asked, words

if TYPE_CHECKING:
    from aster.memory.embeddings.embedder import Matrix

_NAME_WEIGHT: Final = 3
_DESCRIBED_CHARS: Final = 400
_K: Final = 1.2
_B: Final = 0.5
_SLICE: Final = 32
_SECONDS: Final = 0.7
_NEAR: Final = 0.25
"""How alike a tool must be to the question to be found by meaning alone."""


class ActionIndex:
    """The tools of one user at one time."""

    def __init__(self, tools: Sequence[ToolDef], vectors: Embedder | str) -> None:
        self._tools = tuple(tools)
        self._vectors = vectors
        self._counts = [Counter([*words(tool.name) * _NAME_WEIGHT, *words(tool.description)]) for tool in tools]
        self._found_in = Counter(word for counts in self._counts for word in counts)
        self._length = sum(counts.total() for counts in self._counts) / max(1, len(self._counts))
        self._rows: dict[int, Matrix] = {}

    def __len__(self) -> int:
        return len(self._tools)

    async def search(self, query: str, limit: int) -> list[ToolDef]:
        """The tools that fit best, best first; none when nothing fits."""
        said = self._by_words(query)
        meant = await self._by_meaning(query, said)
        top = max(said, default=0.0) or 1.0
        scores = [
            (word / top + max(0.0, near), place)
            for place, (word, near) in enumerate(zip(said, meant, strict=True))
            if word > 0 or near >= _NEAR
        ]
        scores.sort(key=lambda score: (-score[0], score[1]))
        return [self._tools[place] for _, place in scores[:limit]]

    def _by_words(self, query: str) -> list[float]:
        wanted = asked(query)
        total = len(self._tools)
        scores: list[float] = []
        for counts in self._counts:
            score = 0.0
            for word in wanted:
                often = counts[word]
                if often:
                    rare = math.log(1 + (total - self._found_in[word] + 0.5) / (self._found_in[word] + 0.5))
                    length = 1 - _B + _B * counts.total() / self._length
                    score += rare * often * (_K + 1) / (often + _K * length)
            scores.append(score)
        return scores

    async def _by_meaning(self, query: str, said: list[float]) -> list[float]:
        """How alike each tool is to the question, as far as vectors are there."""
        scores = [0.0] * len(self._tools)
        if isinstance(self._vectors, str):
            return scores
        try:
            (question,) = await self._vectors.embed([query])
            await self._learn(self._vectors, sorted(range(len(said)), key=lambda place: -said[place]))
        except EmbeddingsUnavailable:
            return scores
        for place, row in self._rows.items():
            scores[place] = float(row @ question)
        return scores

    async def _learn(self, vectors: Embedder, order: list[int]) -> None:
        """Make vectors that are missing, those of the likeliest tools first, for as long as a search may take."""
        missing = [place for place in order if place not in self._rows]
        until = monotonic() + _SECONDS
        while missing and monotonic() < until:
            some, missing = missing[:_SLICE], missing[_SLICE:]
            texts = [self._tools[place] for place in some]
            made = await vectors.embed([f"{tool.name}: {tool.description[:_DESCRIBED_CHARS]}" for tool in texts])
            self._rows.update(zip(some, made, strict=True))
