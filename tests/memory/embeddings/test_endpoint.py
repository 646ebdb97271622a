"""Vectors from an endpoint: how it is asked, and answers that are not believed."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from aster.memory.embeddings.cached import CachedEmbedder
from aster.memory.embeddings.embedder import EmbeddingsUnavailable
from aster.memory.embeddings.endpoint import EmbeddingsEndpoint
from tests.web_server import Asked, reply, web_server


def answer(asked: Asked) -> bytes:
    texts: list[str] = json.loads(asked.body)["input"]
    data = [{"index": number, "embedding": [len(text), 1]} for number, text in enumerate(texts)]
    return reply(json.dumps({"object": "list", "data": data[::-1], "model": "m"}), "application/json")


async def test_texts_are_sent_in_batches_and_vectors_come_back_in_order() -> None:
    texts = ["x" * number for number in range(1, 41)]
    async with web_server(answer) as server:
        made = EmbeddingsEndpoint(f"{server.url}/v1/", "tiny", "key-1")
        assert made.dimensions is None
        vectors = await made.embed(texts)
    assert made.dimensions == 2
    assert made.fingerprint == f"tiny@{server.url}/v1/embeddings"
    assert [len(json.loads(asked.body)["input"]) for asked in server.asked] == [32, 8]
    assert server.asked[0].headers["authorization"] == "Bearer key-1"
    assert json.loads(server.asked[0].body)["model"] == "tiny"
    assert np.allclose(vectors[:, 0] / vectors[:, 1], np.arange(1, 41), rtol=1e-4)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0)


def says(data: Any, status: int = 200) -> Callable[[Asked], bytes]:
    return lambda asked: reply(json.dumps(data), "application/json", status)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (says({"error": "no"}, 401), "status 401"),
        (says({"data": []}), "one vector for each text"),
        (says({"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [1]}]}), "one vector for each"),
        (says({"data": [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": [1, 2]}]}), "different lengths"),
        (says({"data": [{"index": 0, "embedding": [0]}, {"index": 1, "embedding": [1]}]}), "no direction"),
        (says({"data": [{"index": 0, "embedding": [1e39]}, {"index": 1, "embedding": [1]}]}), "no direction"),
        (says("nonsense"), "cannot be read"),
        (lambda asked: b"", "did not answer"),
    ],
)
async def test_an_answer_that_cannot_be_used_says_why(answer: Callable[[Asked], bytes], reason: str) -> None:
    async with web_server(answer) as server:
        with pytest.raises(EmbeddingsUnavailable, match=reason) as caught:
            await EmbeddingsEndpoint(server.url, "", "key-1").embed(["a", "b"])
    assert "key-1" not in str(caught.value)


async def test_a_text_is_asked_for_once_while_it_is_remembered() -> None:
    async with web_server(answer) as server:
        made = CachedEmbedder(EmbeddingsEndpoint(server.url, "", None), kept=3)
        first = await made.embed(["a", "bb", "a"])
        assert np.array_equal(first[0], first[2])
        assert np.array_equal(await made.embed(["bb", "ccc"]), await made.embed(["bb", "ccc"]))
        await made.embed(["dddd"])
        await made.embed(["a"])
    asked = [json.loads(asked.body)["input"] for asked in server.asked]
    assert asked == [["a", "bb"], ["ccc"], ["dddd"], ["a"]]
