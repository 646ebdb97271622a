"""Finding the place in a workspace where something is, by words and by meaning together.

A question in the model's own words finds text that says it in others; a name finds where it stands. What it takes to
search is loaded with the first one, so that a start need not wait for it.
"""

from typing import TYPE_CHECKING

from aster.contracts.tools import ToolDef, ToolOutcome
from aster.infra.settings import Settings
from aster.utility_directory.path_tools import LookingTool
from aster.utility_directory.tool import Input, ToolContext, input_schema

if TYPE_CHECKING:
    from aster.memory.embeddings.embedder import Embedder
    from aster.utility_directory.file_search_run import Searcher

USUAL, MOST = 10, 20


class FileSearch(LookingTool):
    definition = ToolDef(
        name="file_search",
        description=(
            "Find where something is in the workspace's text files, by meaning as well as by words: ask in plain "
            "words or with names from the code. Lists path:first-last with the lines that matter. For exact text "
            "or patterns use grep."
        ),
        input_schema=input_schema(
            ("query",),
            query={"type": "string", "minLength": 1, "maxLength": 1000, "description": "What to look for."},
            path={"type": "string", "minLength": 1, "description": "Only below this path."},
            glob={"type": "string", "maxLength": 500, "description": "Only files like this: *.{ts,tsx}."},
            limit={"type": "integer", "minimum": 1, "maximum": MOST, "description": f"{USUAL} if not given."},
        ),
    )

    def __init__(self, settings: Settings | None = None, vectors: "Embedder | str | None" = None) -> None:
        """`vectors` is who makes them, or why nobody does; by default what the settings say."""
        self._settings = settings or Settings.model_validate({})
        self._vectors = vectors
        self._searcher: Searcher | None = None

    async def run(self, given: Input, context: ToolContext) -> ToolOutcome:
        if self._searcher is None:
            from aster.memory.embeddings.choice import embedder
            from aster.utility_directory.file_search_run import Searcher

            chosen = embedder(self._settings) if self._vectors is None else self._vectors
            self._searcher = Searcher(self._settings, chosen)
        return await self._searcher.search({"limit": USUAL, **given}, context)
