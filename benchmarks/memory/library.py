"""A brain in a temporary directory, with every conversation remembered for a user of its own.

What is measured is the engine's memory itself: written as a turn writes, embedded in the background, found through the
bus. Only the textbook rankings look at the store directly.
"""

import tempfile
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from aster.brain.memory_kinds import Store
from aster.brain.memory_protocol import MemoryStore
from aster.brain.memory_records import Written
from aster.brain.sqlite.brain import SqliteBrain
from aster.infra.clock import now_ms
from aster.infra.secrets import Secrets
from aster.memory.documents import Document
from aster.memory.drafts import LONGEST, Draft
from aster.memory.embeddings.embedder import Embedder
from aster.memory.memory import Memory
from aster.memory.retrieval.tuning import TUNING, Tuning
from benchmarks.memory.corpus import Conversation

_ROOM: Final = 1000
"""Characters of the longest record that are left for who said it."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A conversation as it is remembered: whose it is, in which store, and what the file calls each record."""

    conversation: Conversation
    user_id: str
    store: Store
    labels: dict[int, tuple[str, ...]] = field(default_factory=dict[int, tuple[str, ...]])

    @property
    def now(self) -> int:
        return now_ms() if self.conversation.now is None else self.conversation.now

    def named(self, numbers: list[int]) -> tuple[str, ...]:
        """What the file calls these records, each once."""
        return tuple(dict.fromkeys(label for number in numbers for label in self.labels[number]))


class Library:
    """An open brain."""

    def __init__(self, brain: SqliteBrain, model: Embedder, stack: AsyncExitStack) -> None:
        self.store: MemoryStore = brain.memory
        self.model = model
        self._stack = stack

    async def memory(self, tuning: Tuning = TUNING) -> Memory:
        """The memory of this brain, ranked by these weights."""
        memory = Memory(self.store, Secrets(), self.model, lambda _: None, tuning)
        await memory.start()
        self._stack.push_async_callback(memory.close)
        return memory

    async def put(self, memory: Memory, conversation: Conversation, number: int) -> Placed:
        """Remember a conversation; its vectors are made later."""
        placed = Placed(
            conversation, f"{number}-{conversation.name}", "documents" if conversation.documents else "episodes"
        )
        said = [(line, line.text.strip()[: LONGEST - _ROOM]) for line in conversation.lines]
        if conversation.documents:
            for line, text in said:
                document = Document(line.label[:200], text)
                _label(placed, await memory.ingest(placed.user_id, document, Draft("chunk", {})), line.label)
            return placed
        drafts = [
            Draft(
                "episode",
                {"description": text, "speaker": line.speaker[:200]},
                task_id=line.session,
                first_seq=at,
                last_seq=at,
                event_at=line.when,
            )
            for at, (line, text) in enumerate(said, 1)
            if text
        ]
        done = await memory.write(placed.user_id, drafts)
        for (line, _), written in zip(((line, text) for line, text in said if text), done, strict=True):
            _label(placed, [written], line.label)
        return placed


def _label(placed: Placed, done: list[Written], label: str) -> None:
    for written in done:
        known = placed.labels.get(written.row.number, ())
        placed.labels[written.row.number] = (*known, label)


@asynccontextmanager
async def library(model: Embedder) -> AsyncGenerator[Library]:
    """An empty one, until the block ends."""
    with tempfile.TemporaryDirectory(prefix="memory-benchmark-") as directory:
        brain = SqliteBrain(Path(directory) / "brain.sqlite")
        await brain.start()
        try:
            async with AsyncExitStack() as stack:
                yield Library(brain, model, stack)
        finally:
            await brain.close()
