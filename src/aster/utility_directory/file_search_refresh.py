"""Bringing the index of a workspace up to date before a question is answered, as far as a budget of time allows.

What is missing is done in small steps that are kept at once, so the next search goes on where this one stopped. The
passages that fit the question by their words get their vectors first: they are the ones that matter now. Where
there is far more to do than a few searches can, no search waits its full time for it.
"""

import asyncio
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import ParamSpec, TypeVar

from aster.memory.embeddings.embedder import Embedder
from aster.memory.passages.chunks import passages
from aster.memory.passages.index import PassageIndex, attempt
from aster.sandbox.settle import uninterrupted
from aster.utility_directory.file_search_tree import TextFile, listing, read
from aster.utility_directory.names import shown
from aster.utility_directory.tool import ToolContext

P = ParamSpec("P")
T = TypeVar("T")

_LISTING_SECONDS = 10.0
_FILES_AT_ONCE = 64
_BYTES_AT_ONCE = 256_000
_PASSAGES_AT_ONCE = 8
_LIKELY = 48
_SOON_DONE = 4_000
_SHARE_OF_MANY = 0.25
_SAY_EVERY = 0.5


@dataclass(slots=True)
class Refresh:
    """One search's share of the work: `seconds` from `began` on, by the monotonic clock; each kind of step is done
    at least once."""

    index: PassageIndex
    context: ToolContext
    began: float
    seconds: float
    _said: float = field(default=0.0)

    async def files(self) -> tuple[int, bool]:
        """Take in what has changed; how many files are left to read, and whether there are more than fit."""
        context = self.context
        found = await context.sandbox.files.call(listing, context.workspace, _LISTING_SECONDS)
        known = await on_index(self.index.stamps)
        gone = [path for path in known if path not in found.files]
        todo = [(path, stamp, size) for path, (stamp, size) in found.files.items() if known.get(path) != stamp]
        done = 0
        if gone:
            await on_index(self.index.replace, gone, ())
        for batch in _batches(todo):
            files = await context.sandbox.files.call(read, context.workspace, batch)
            await on_index(self._take_in, files)
            done += len(batch)
            self._say(f"read {done:,} of {len(todo):,} files", done == len(todo))
            if time.monotonic() > self.began + self.seconds:
                break
        return len(todo) - done, found.cut

    async def vectors(self, embedder: Embedder, query: str) -> int:
        """Give passages their vectors; how many are left without one. Raises EmbeddingsUnavailable."""
        await on_index(self.index.made_by, embedder.fingerprint)
        likely = list(await on_index(self.index.by_words, query, _LIKELY))
        left = (await on_index(self.index.extent)).pending
        total = left
        until = self.began + self.seconds * (1.0 if total <= _SOON_DONE else _SHARE_OF_MANY)
        while left and (texts := await on_index(self.index.pending, _PASSAGES_AT_ONCE, likely)):
            vectors = await embedder.embed(list(texts.values()))
            await on_index(self.index.keep, list(texts), vectors)
            left -= len(texts)
            self._say(f"compared {total - left:,} of {total:,} passages", left == 0)
            if time.monotonic() > until:
                break
        return left

    def _take_in(self, files: list[TextFile]) -> None:
        workspace = self.context.workspace
        self.index.replace(
            (),
            [
                (
                    file.path,
                    shown(workspace, Path(os.fsdecode(file.path))),
                    file.stamp,
                    passages(file.text) if file.text is not None else (),
                )
                for file in files
            ],
        )

    def _say(self, text: str, last: bool) -> None:
        now = time.monotonic()
        if last or now - self._said > _SAY_EVERY:
            self._said = now
            self.context.progress(f"{text}\n", "index")


async def on_index(work: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
    """Work on an index in a thread as the engine itself; a cancelled caller waits until it is over."""
    return await uninterrupted(asyncio.ensure_future(asyncio.to_thread(attempt, work, *given, **named)))


def _batches(todo: list[tuple[bytes, str, int]]) -> Iterator[list[tuple[bytes, str]]]:
    rest = iter(todo)
    while some := list(islice(rest, 1)):
        size = some[0][2]
        while len(some) < _FILES_AT_ONCE and size < _BYTES_AT_ONCE and (more := list(islice(rest, 1))):
            some += more
            size += more[0][2]
        yield [(path, stamp) for path, stamp, _ in some]
