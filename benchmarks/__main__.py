"""The command: ``python -m benchmarks [--quick] [--only a,b] [--rounds N] [--json FILE]``.

Every benchmark gets fresh processes, a directory of its own and a limit of time. One that fails is named and the
others go on; the exit code is 1 then, and never depends on a figure.
"""

import argparse
import asyncio
import os
import platform
import signal
import sys
import tempfile
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import TypeAlias

import msgspec
import uvloop

from benchmarks.figures import Figure, Summary, summarise, table
from benchmarks.rows import (
    cluster,
    connectors,
    context,
    doors,
    file_search,
    gateway,
    latency,
    learning,
    memory,
    sandbox,
    schedules,
    start,
    storage,
    throughput,
    toolcalls,
    work,
)
from benchmarks.scale import FULL, QUICK, Scale

Benchmark: TypeAlias = Callable[[Path, Scale], Awaitable[list[Figure]]]

BENCHMARKS: dict[str, Benchmark] = {
    "ttft": latency.first_token,
    "turn": latency.whole_turn,
    "doors": doors.over_execute,
    "stream": throughput.one_stream,
    "append": storage.appended,
    "replay": storage.replayed,
    "load": throughput.many_turns,
    "tools": work.tool_loop,
    "sandbox": sandbox.commands,
    "search": file_search.searched,
    "history": work.long_task,
    "context": context.assembled,
    "connectors": connectors.called,
    "learning": learning.beside_learning,
    "schedules": schedules.not_due,
    "streams": memory.open_streams,
    "start": start.cold_start,
    "toolcalls": toolcalls.parsed,
    "parse": gateway.parse_cost,
    "import": gateway.import_time,
    "suspended": memory.suspended,
    "cluster": cluster.replicated,
}
ON_REQUEST = {"suspended", "cluster"}
LIMIT_SECONDS = 150.0
LONG_LIMIT_SECONDS = 900.0


class Environment(msgspec.Struct, frozen=True):
    """Where the figures come from. A load above the number of cores makes them worthless."""

    began: str
    python: str
    system: str
    cores: int
    load_before: float
    load_after: float
    quick: bool
    rounds: int


class Result(msgspec.Struct, frozen=True):
    environment: Environment
    figures: list[Summary]
    failures: list[str]


def chosen(only: str | None) -> list[str]:
    """The names to run, in the order of the table; raises ValueError for one that does not exist."""
    if only is None:
        return [name for name in BENCHMARKS if name not in ON_REQUEST]
    wanted = {name.strip() for name in only.split(",") if name.strip()}
    if unknown := wanted - BENCHMARKS.keys():
        raise ValueError(f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(BENCHMARKS)}")
    return [name for name in BENCHMARKS if name in wanted]


def options(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Aster beside a bare proxy.")
    parser.add_argument("--quick", action="store_true", help="fewer of everything: under a minute, and rougher")
    parser.add_argument("--only", metavar="A,B", help=f"some of: {', '.join(BENCHMARKS)}")
    parser.add_argument("--rounds", type=int, default=1, metavar="N", help="run all N times and give the medians")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures of all rounds there")
    parsed = parser.parse_args(arguments)
    try:
        parsed.names = chosen(parsed.only)
    except ValueError as error:
        parser.error(str(error))
    if parsed.rounds < 1:
        parser.error("--rounds must be at least 1")
    return parsed


async def measure(name: str, scale: Scale) -> list[Figure]:
    limit = LONG_LIMIT_SECONDS if name in ON_REQUEST else LIMIT_SECONDS
    with tempfile.TemporaryDirectory(prefix="aster-bench-", ignore_cleanup_errors=True) as directory:
        async with asyncio.timeout(limit):
            return await BENCHMARKS[name](Path(directory), scale)


async def run(names: list[str], scale: Scale, rounds: int) -> tuple[list[list[Figure]], list[str]]:
    task = asyncio.current_task()
    assert task is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    measured: list[list[Figure]] = []
    failures: list[str] = []
    for number in range(rounds):
        for name in names:
            began = monotonic()
            try:
                measured.append(await measure(name, scale))
                outcome = "done"
            except Exception as error:  # noqa: BLE001 - the boundary of a benchmark: the others still run
                outcome = f"failed: {_reason(error)}"
                failures.append(f"{name}: {_reason(error)}")
            print(
                f"round {number + 1} {name}: {outcome} in {monotonic() - began:.1f} s", file=sys.stderr, flush=True
            )
    return measured, failures


def _reason(error: BaseException) -> str:
    if isinstance(error, BaseExceptionGroup):
        return _reason(error.exceptions[0])
    return f"{type(error).__name__}: {error}"


def main() -> int:
    asked = options()
    began, load = datetime.now(UTC), os.getloadavg()[0]
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        measured, failures = runner.run(run(asked.names, QUICK if asked.quick else FULL, asked.rounds))
    environment = Environment(
        began=began.isoformat(timespec="seconds"),
        python=platform.python_version(),
        system=f"{platform.system()} {platform.machine()}",
        cores=os.cpu_count() or 1,
        load_before=load,
        load_after=os.getloadavg()[0],
        quick=asked.quick,
        rounds=asked.rounds,
    )
    result = Result(environment, summarise(measured), failures)
    print(
        f"Python {environment.python}, {environment.system}, {environment.cores} cores, "
        f"load {load:.1f} before, {'quick, ' if asked.quick else ''}{asked.rounds} round(s)\n"
    )
    print(table(summary.median for summary in result.figures))
    for failure in failures:
        print(f"FAILED {failure}")
    if asked.json is not None:
        asked.json.write_bytes(msgspec.json.format(msgspec.json.encode(result), indent=2))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
