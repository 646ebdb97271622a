"""A memory on a real brain, with a small embedder whose vectors anybody can work out. `memory` is there on either
database; what looks at the brain's bytes opens a file at `path`."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray

from aster.brain.memory_words import words
from aster.brain.postgres.brain import PostgresBrain
from aster.brain.sqlite.brain import SqliteBrain
from aster.infra.secrets import Secrets
from aster.memory.drafts import Draft
from aster.memory.embeddings.embedder import Embedder, EmbeddingsUnavailable
from aster.memory.memory import MOST, Memory

MEANS = {"puppy": "dog", "hound": "dog", "automobil": "car", "physician": "doctor"}
"""The synonyms this embedder knows, without their endings."""


class WordVectors:
    """A text is the sum of its words' directions; it can be told to fail."""

    def __init__(self, name: str = "words-1", dimensions: int = 64) -> None:
        self.fingerprint = name
        self.dimensions: int | None = dimensions
        self.failing: str | None = None
        self.asked: list[str] = []

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self.failing is not None:
            raise EmbeddingsUnavailable(self.failing)
        self.asked += texts
        return np.stack([self._vector(text) for text in texts])

    def _vector(self, text: str) -> NDArray[np.float32]:
        total = np.full(self.dimensions or 0, 1e-3, np.float32)
        for word in words(text):
            seed = int.from_bytes(sha256(f"{self.fingerprint}{MEANS.get(word, word)}".encode()).digest()[:4], "big")
            total += np.random.default_rng(seed).standard_normal(self.dimensions or 0).astype(np.float32)
        return (total / np.linalg.norm(total)).astype(np.float32)


Opened: TypeAlias = Callable[..., AbstractAsyncContextManager[Memory]]


@asynccontextmanager
async def opened(
    place: Path | str,
    embedder: Embedder | str | None = None,
    earlier: Callable[[str], Embedder | None] = lambda _: None,
    secrets: Secrets | None = None,
    most: int = MOST,
) -> AsyncIterator[Memory]:
    """A memory on the brain at a path, or in a database, until the block ends."""
    brain = SqliteBrain(place) if isinstance(place, Path) else PostgresBrain(place, readers=2)
    await brain.start()
    vectors = WordVectors() if embedder is None else embedder
    memory = Memory(brain.memory, secrets or Secrets(), vectors, earlier, most=most)
    try:
        await memory.start()
        unwatch = brain.changes.watch(memory.elsewhere)
        yield memory
        unwatch()
    finally:
        await memory.close()
        await brain.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "brain.sqlite"


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, path: Path) -> Path | str:
    return path if request.param == "sqlite" else request.getfixturevalue("database_url")


@pytest.fixture
async def memory(place: Path | str) -> AsyncIterator[Memory]:
    async with opened(place) as memory:
        yield memory


def fact(content: str, subject: str = "", predicate: str = "", **rest: Any) -> Draft:
    return Draft("fact", {"content": content, "subject": subject, "predicate": predicate}, **rest)


def episode(description: str, speaker: str = "", **rest: Any) -> Draft:
    return Draft("episode", {"description": description, "speaker": speaker}, **rest)


def edge(source: str, relation: str, target: str, **rest: Any) -> Draft:
    return Draft("edge", {"source": source, "relation": relation, "target": target}, **rest)


def raw(path: Path) -> bytes:
    """Every byte of the brain: the file and the log beside it."""
    beside = path.with_name(path.name + "-wal")
    return path.read_bytes() + (beside.read_bytes() if beside.exists() else b"")
