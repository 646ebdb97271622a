"""What isolation costs: a command that does nothing, in every backend that works here, beside the same one bare;
and ten reads at once beside ten in a row."""

import asyncio
import secrets
from pathlib import Path
from statistics import median
from time import perf_counter

from aster.infra.settings import load
from aster.sandbox.backend import Command, Sandbox
from aster.sandbox.paths import Workspace
from aster.sandbox.selection import AUTOMATIC, choose
from aster.sandbox.workspaces import Workspaces
from benchmarks.figures import Figure
from benchmarks.prompt import Prompt, call
from benchmarks.scale import Scale
from benchmarks.stage import stage

NOTHING = ("/bin/bash", "-c", "true")
READS = 10


async def commands(directory: Path, scale: Scale) -> list[Figure]:
    """`bash -c true`, one after the other, the two alternating."""
    figures: list[Figure] = []
    for name in AUTOMATIC:
        settings = load({"SQLITE_DB_PATH": str(directory / name / "brain.sqlite"), "SANDBOX": name}, None)
        sandbox = await choose(settings)
        try:
            if sandbox.report.ok:
                workspace = await Workspaces(settings, sandbox).of("bench", "t1")
                figures.append(await _beside_bare(name, sandbox, workspace, scale.commands))
        finally:
            sandbox.close()
    return [*figures, await reads(directory / "reads", scale)]


async def _beside_bare(name: str, sandbox: Sandbox, workspace: Workspace, count: int) -> Figure:
    isolated: list[float] = []
    bare: list[float] = []
    for number in range(count + 1):
        began = perf_counter()
        done = await sandbox.run(Command(NOTHING, workspace))
        between = perf_counter()
        process = await asyncio.create_subprocess_exec(*NOTHING)
        await process.wait()
        if done.exit_code != 0:
            raise RuntimeError(f"{name}: {done.stderr}")
        if number > 0:
            isolated.append((between - began) * 1e3)
            bare.append((perf_counter() - between) * 1e3)
    return Figure("sandbox", f"`bash -c true` in {name}; beside it: bare", "ms", median(isolated), median(bare))


async def reads(directory: Path, scale: Scale) -> Figure:
    """A turn that reads ten files in one step, beside one that reads them in ten steps."""
    async with stage(directory) as on:
        for number in range(1, READS + 1):
            (directory / "workspace" / f"note-{number}.txt").write_text("Remember the milk.\n" * 200)
        at_once: list[float] = []
        in_a_row: list[float] = []
        for _ in range(scale.tool_loops):
            one = call("read_file", {"path": f"{directory}/workspace/note-$call.txt"}, rounds=1)
            mark = secrets.token_hex(6)
            text = one.text.replace("tools=1", f"tools=1 parallel={READS}").replace(one.mark, mark)
            at_once.append((await on.aster.turn(Prompt(text, mark, one.words, READS))).seconds * 1e3)
            row = call("read_file", {"path": f"{directory}/workspace/note-$round.txt"}, rounds=READS)
            in_a_row.append((await on.aster.turn(row)).seconds * 1e3)
    name = f"turn with {READS} reads at once; beside it: in a row"
    return Figure("sandbox", name, "ms", median(at_once), median(in_a_row))
