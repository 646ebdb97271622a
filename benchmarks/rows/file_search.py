"""What finding a place costs: taking a tree of files into the index, and a question once it is there, beside grep
on the same tree."""

import shutil
from dataclasses import replace
from pathlib import Path
from statistics import median
from time import perf_counter

import aster.brain
from aster.contracts.tools import ToolOutcome
from aster.infra.settings import Settings, load
from aster.sandbox.selection import choose
from aster.sandbox.workspaces import Workspaces, search_index
from aster.utility_directory.file_search import FileSearch
from aster.utility_directory.grep import Grep
from aster.utility_directory.tool import Input, Tool, ToolContext
from benchmarks.figures import Figure
from benchmarks.scale import Scale

QUESTIONS = (
    "write many events to disk in a single commit",
    "delete old rows after some days",
    "subscribers that read a conversation as it grows",
    "two engines must not open the same file",
    "migrate the schema",
)


async def searched(directory: Path, scale: Scale) -> list[Figure]:
    root = directory / "project"
    source = Path(aster.brain.__path__[0])
    shutil.copytree(source, root, ignore=shutil.ignore_patterns("__pycache__"))
    size = sum(path.stat().st_size for path in root.rglob("*") if path.is_file())
    environment = {
        "SQLITE_DB_PATH": str(directory / "data" / "brain.sqlite"),
        "ALLOWED_ROOTS": str(root),
        "FILE_SEARCH_SECONDS": "120",
    }
    settings = load(environment, None)
    sandbox = await choose(settings)
    try:
        context = ToolContext(
            user_id="bench",
            task_id="t1",
            turn_id="turn-1",
            tool_call_id="call-1",
            idempotency_key="turn-1:1:call-1",
            workspace=await Workspaces(settings, sandbox).of("bench", "t1"),
            sandbox=sandbox,
        )
        return await _measured(settings, context, size, scale.commands)
    finally:
        sandbox.close()


async def _measured(settings: Settings, context: ToolContext, size: int, count: int) -> list[Figure]:
    tool, grep = FileSearch(settings), Grep()
    words = FileSearch(settings.model_copy(update={"embeddings_provider": "off"}))
    megabytes = size / 1e6
    in_words = await _timed(words, {"query": "events"}, context)
    in_grep = await _timed(grep, {"pattern": "nothing has this"}, context)
    search_index(settings, context.workspace.roots).unlink()
    in_full = await _timed(tool, {"query": QUESTIONS[0]}, replace(context, task_id="t2"))
    hybrid: list[float] = []
    keywords: list[float] = []
    patterns: list[float] = []
    for number in range(count):
        query = f"{QUESTIONS[number % len(QUESTIONS)]} {number}"
        hybrid.append(await _timed(tool, {"query": query}, context) * 1e3)
        keywords.append(await _timed(words, {"query": query}, context) * 1e3)
        patterns.append(await _timed(grep, {"pattern": "commit|retention|" + query.split()[0]}, context) * 1e3)
    beside = median(patterns)
    tree = f"{megabytes:.2f} MB of source"
    return [
        Figure(
            "search",
            f"index of {tree} by words; beside it: grep",
            "MB/s",
            megabytes / in_words,
            megabytes / in_grep,
        ),
        Figure("search", f"index of {tree} by words and meaning", "MB/s", megabytes / in_full),
        Figure("search", "question by words and meaning; beside it: grep", "ms", median(hybrid), beside),
        Figure("search", "question by words alone; beside it: grep", "ms", median(keywords), beside),
    ]


async def _timed(tool: Tool, given: Input, context: ToolContext) -> float:
    began = perf_counter()
    done: ToolOutcome = await tool.run(given, context)
    took = perf_counter() - began
    if not done.ok or (done.data or {}).get("complete") is False:
        raise RuntimeError(f"{tool.definition.name}: {done.output}")
    return took
