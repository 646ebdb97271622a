"""An embedder that remembers what it was asked last, by a hash of the text: a search that is repeated, or a passage
that comes back unchanged, costs nothing."""

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from aster.memory.embeddings.embedder import Embedder, Reader, Reading

if TYPE_CHECKING:
    from aster.memory.embeddings.embedder import Matrix

_KEPT = 2048
_QUESTIONS = 64
_LONGEST = 128
"""Tokens of a question that is remembered: each has a vector."""


class CachedEmbedder:
    """As the embedder inside, for which it asks each text once as long as it is remembered."""

    def __init__(self, inside: Embedder, kept: int = _KEPT) -> None:
        self._inside = inside
        self._kept = kept
        self._vectors: OrderedDict[bytes, Any] = OrderedDict()
        self._questions: OrderedDict[str, Reading] = OrderedDict()

    @property
    def fingerprint(self) -> str:
        return self._inside.fingerprint

    @property
    def dimensions(self) -> int | None:
        return self._inside.dimensions

    async def embed(self, texts: Sequence[str]) -> "Matrix":
        keys = [hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest() for text in texts]
        vectors = {key: self._vectors[key] for key in keys if key in self._vectors}
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in vectors}
        if missing or not keys:
            found = await self._inside.embed(list(missing.values()))
            if not keys:
                return found
            vectors |= {key: row.copy() for key, row in zip(missing, found, strict=True)}
        for key in keys:
            self._vectors[key] = vectors[key]
            self._vectors.move_to_end(key)
        while len(self._vectors) > self._kept:
            self._vectors.popitem(last=False)
        import numpy as np

        return np.stack([vectors[key] for key in keys])

    async def read(self, texts: Sequence[str]) -> list[Reading]:
        """As the embedder inside; without tokens when it shows none. A text that is read alone is a question, and is
        remembered."""
        if isinstance(self._inside, Reader):
            return (
                await self._question(self._inside, texts[0]) if len(texts) == 1 else await self._inside.read(texts)
            )
        return [Reading(row, [], row[:0].reshape(0, 0)) for row in (await self.embed(texts) if texts else ())]

    async def _question(self, reader: Reader, text: str) -> list[Reading]:
        known = self._questions.get(text)
        if known is None:
            (known,) = await reader.read([text])
            if len(known.tokens) > _LONGEST:
                return [known]
        self._questions[text] = known
        self._questions.move_to_end(text)
        while len(self._questions) > _QUESTIONS:
            self._questions.popitem(last=False)
        return [known]
