"""Token vectors as ranking uses them, from the real model."""

import asyncio
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from aster.memory.embeddings.cached import CachedEmbedder
from aster.memory.embeddings.minilm import MiniLM


class Vectors:
    """An embedder that shows no tokens."""

    fingerprint, dimensions = "plain", 2

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.tile(np.array([[0.6, 0.8]], np.float32), (len(texts), 1))


def test_a_reading_has_the_vector_of_the_text_and_one_for_each_piece_of_a_word() -> None:
    model = MiniLM()
    texts = ["Anna paints, unbelievably!", "long " * 300, "?!", ""]
    vectors, readings = asyncio.run(model.embed(texts)), asyncio.run(model.read(texts))
    assert readings[0].words[0] == "anna"
    assert readings[0].words[-1] == "unbelievably"
    assert [len(one.words) for one in readings[1:2]] == [300]
    for vector, one in zip(vectors, readings, strict=True):
        assert np.allclose(one.vector, vector, atol=1e-5)
        assert one.tokens.shape == (len(one.words), 384)
        assert np.allclose(np.linalg.norm(one.tokens, axis=1), 1.0, atol=1e-5)


def test_an_embedder_without_tokens_reads_without_them() -> None:
    reading = asyncio.run(CachedEmbedder(Vectors()).read(["a"]))[0]
    assert reading.vector.tolist() == pytest.approx([0.6, 0.8])
    assert reading.words == []
    assert len(reading.tokens) == 0
    assert asyncio.run(CachedEmbedder(Vectors()).read([])) == []
