"""Vectors from an endpoint that speaks the openai_compatible protocol, chosen and trusted by the operator.

What it answers is checked before it is believed: as many vectors as texts, each in its place, all of one length.
"""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from aster.memory.embeddings.embedder import EmbeddingsUnavailable

if TYPE_CHECKING:
    from aster.memory.embeddings.embedder import Matrix

_AT_ONCE = 32
_SECONDS = 30.0


class _Item(msgspec.Struct):
    index: int
    embedding: list[float]


class _Answer(msgspec.Struct):
    data: list[_Item]


class EmbeddingsEndpoint:
    """One model at one address."""

    def __init__(self, base_url: str, model: str, key: str | None) -> None:
        self._url = f"{base_url.rstrip('/')}/embeddings"
        self._model = model
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._dimensions: int | None = None

    @property
    def fingerprint(self) -> str:
        return f"{self._model}@{self._url}"

    @property
    def dimensions(self) -> int | None:
        return self._dimensions

    async def embed(self, texts: Sequence[str]) -> "Matrix":
        import httpx2

        rows: list[list[float]] = []
        async with httpx2.AsyncClient(timeout=_SECONDS, headers=self._headers, follow_redirects=False) as http:
            for start in range(0, len(texts), _AT_ONCE):
                wanted = list(texts[start : start + _AT_ONCE])
                body = {"model": self._model, "input": wanted, "encoding_format": "float"}
                try:
                    response = await http.post(self._url, json=body)
                except httpx2.HTTPError as error:
                    raise EmbeddingsUnavailable(f"the endpoint did not answer ({type(error).__name__})") from error
                if response.status_code != 200:
                    raise EmbeddingsUnavailable(f"the endpoint answered with status {response.status_code}")
                rows += _vectors(response.content, len(wanted))
        matrix = await asyncio.to_thread(_matrix, rows, self._dimensions)
        self._dimensions = matrix.shape[1] or self._dimensions
        return matrix


def _matrix(rows: list[list[float]], dimensions: int | None) -> "Matrix":
    import numpy as np

    width = dimensions or (len(rows[0]) if rows else 0)
    if any(len(row) != width for row in rows):
        raise EmbeddingsUnavailable("the endpoint answered with vectors of different lengths")
    with np.errstate(over="ignore"):
        matrix = np.asarray(rows, dtype=np.float32).reshape(len(rows), width)
        lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    if not np.isfinite(lengths).all() or not (lengths > 0).all():
        raise EmbeddingsUnavailable("the endpoint answered with a vector that has no direction")
    return matrix / lengths


def _vectors(content: bytes, count: int) -> list[list[float]]:
    try:
        items = msgspec.json.decode(content, type=_Answer).data
    except msgspec.MsgspecError as error:
        raise EmbeddingsUnavailable("the endpoint's answer cannot be read") from error
    items.sort(key=lambda item: item.index)
    if [item.index for item in items] != list(range(count)):
        raise EmbeddingsUnavailable("the endpoint did not answer with one vector for each text")
    return [item.embedding for item in items]
