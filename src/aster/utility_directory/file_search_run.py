"""One search from the question to the answer: bring the index up to date, rank, show.

Searches of one workspace take turns at the index while it is being changed, and not while it is only read. Without
an embedding model words alone decide, and the outcome says so.
"""

import asyncio
import fnmatch
import os
import stat
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from aster.contracts.tools import OutcomeClass, ToolOutcome
from aster.infra.settings import Settings
from aster.memory.embeddings.embedder import Embedder, EmbeddingsUnavailable
from aster.memory.passages.fusion import Ranked, fuse
from aster.memory.passages.index import Found, IndexDamaged, IndexUnusable, PassageIndex, remove
from aster.memory.passages.words import asked
from aster.sandbox.workspaces import search_index
from aster.utility_directory.file_search_refresh import Refresh, on_index
from aster.utility_directory.file_search_room import make_room
from aster.utility_directory.file_search_show import Coverage, outcome
from aster.utility_directory.patterns import alternatives
from aster.utility_directory.text_files import on_file
from aster.utility_directory.tool import Input, ToolContext

if TYPE_CHECKING:
    from aster.memory.embeddings.embedder import Matrix

_CANDIDATES = 100
_LEAST_COSINE = 0.2


class Searcher:
    """Searches workspaces; one for the whole engine."""

    def __init__(self, settings: Settings, vectors: Embedder | str) -> None:
        self._settings = settings
        self._seconds = settings.file_search_seconds
        self._embedder = vectors
        self._locks: WeakValueDictionary[Path, asyncio.Lock] = WeakValueDictionary()

    async def search(self, given: Input, context: ToolContext) -> ToolOutcome:
        """The best places, as many as `given` asks for, or why there can be none."""
        scopes: list[_Scope] = []

        def locate(path: Path) -> ToolOutcome:
            fd = context.workspace.open(path, os.O_RDONLY)
            try:
                directory = path if stat.S_ISDIR(os.fstat(fd).st_mode) else path.parent
            finally:
                os.close(fd)
            globs = alternatives(given["glob"]) if given.get("glob") else []
            scopes.append(_Scope(directory, path if "path" in given else None, globs))
            return ToolOutcome.text("")

        failed = await on_file(context, given.get("path", "."), locate)
        if not scopes:
            return failed
        scope = scopes[0]
        path = search_index(self._settings, context.workspace.roots)
        began = time.monotonic()
        try:
            try:
                return await self._search(path, given, context, scope, began)
            except IndexDamaged:
                async with self._lock(path):
                    await asyncio.to_thread(remove, path)
                return await self._search(path, given, context, scope, began)
        except (IndexDamaged, IndexUnusable, OSError) as error:
            text = f"Error: the search index cannot be used ({error}). Use grep instead."
            return ToolOutcome.error(text, reason="io_error", failure=OutcomeClass.FATAL)

    async def _search(
        self, path: Path, given: Input, context: ToolContext, scope: "_Scope", began: float
    ) -> ToolOutcome:
        query: str = given["query"]
        async with self._lock(path):
            in_use = {place for place, other in self._locks.items() if other.locked()}
            await asyncio.to_thread(make_room, path, in_use)
            index = await on_index(PassageIndex, path)
            try:
                refresh = Refresh(index, context, began, self._seconds)
                files_left, cut = await refresh.files()
                vector, passages_left, missing = await self._meaning(refresh, query)
            except BaseException:
                await on_index(index.close)
                raise
        try:
            results = await on_index(_results, index, given, scope, vector)
            extent = await on_index(index.extent)
        finally:
            await on_index(index.close)
        coverage = Coverage(extent.files, extent.passages, files_left, passages_left, cut, missing)
        return outcome(context.workspace, results, asked(query), coverage)

    async def _meaning(self, refresh: Refresh, query: str) -> "tuple[Matrix | None, int, str | None]":
        """The vector of the question, how many passages are left without theirs, and why there is no search by
        meaning, if there is none."""
        if isinstance(self._embedder, str):
            return None, 0, self._embedder
        try:
            vector = (await self._embedder.embed([query]))[0]
            return vector, await refresh.vectors(self._embedder, query), None
        except EmbeddingsUnavailable as reason:
            return None, 0, str(reason)

    def _lock(self, path: Path) -> asyncio.Lock:
        return self._locks.setdefault(path, asyncio.Lock())


@dataclass(frozen=True, slots=True)
class _Scope:
    """Where to look: in one place or everywhere, in all files or those like a pattern."""

    directory: Path
    only: Path | None
    globs: list[str]

    @property
    def everywhere(self) -> bool:
        return self.only is None and not self.globs

    def holds(self, name: bytes) -> bool:
        """Whether a file is in it; patterns are read as in grep."""
        path = Path(os.fsdecode(name))
        if self.only is not None and not path.is_relative_to(self.only):
            return False
        below = str(path.relative_to(self.directory) if path.is_relative_to(self.directory) else path)
        return not self.globs or any(_like(below, glob) for glob in self.globs)


def _like(path: str, glob: str) -> bool:
    if "/" not in glob:
        return fnmatch.fnmatchcase(path.rpartition("/")[2], glob)
    return fnmatch.fnmatchcase(path, glob) or fnmatch.fnmatchcase(path, glob.removeprefix("**/"))


def _results(
    index: PassageIndex, given: Input, scope: _Scope, vector: "Matrix | None"
) -> list[tuple[Ranked, Found]]:
    within = None if scope.everywhere else [file for file, name in index.files() if scope.holds(name)]
    bm25 = index.by_words(given["query"], _CANDIDATES, within)
    near = {} if vector is None else index.by_meaning(vector, _CANDIDATES, within, bm25)
    near = {number: cosine for number, cosine in near.items() if number in bm25 or cosine >= _LEAST_COSINE}
    return _distinct(index, fuse(bm25, near), given["limit"])


def _distinct(index: PassageIndex, ranked: list[Ranked], most: int) -> list[tuple[Ranked, Found]]:
    """The best passages; of two that share lines, the better one."""
    out: list[tuple[Ranked, Found]] = []
    for one in ranked:
        found = index.found([one.passage]).get(one.passage)
        if found is not None and not any(_overlap(found, other) for _, other in out):
            out.append((one, found))
        if len(out) == most:
            break
    return out


def _overlap(one: Found, other: Found) -> bool:
    first, second = one.passage, other.passage
    return one.path == other.path and first.first <= second.last and second.first <= first.last
