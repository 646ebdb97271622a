"""Checking a solution: the validator runs in the sandbox, without a network, in a directory with the challenge's own
files and the solution, which it starts as a program of its own.

Whether the solution failed or the validator did is told by the status of our own program around it, never by its
words.
"""

import os
import stat
from dataclasses import replace
from pathlib import Path
from typing import Final, Literal, NamedTuple, TypeAlias

from aster.engine_core.services import Services
from aster.infra.ids import new_id
from aster.learning_centre.self_play.challenge import Challenge
from aster.sandbox.backend import Command
from aster.sandbox.egress import without_egress
from aster.sandbox.limits import Limits

SECONDS: Final = 20.0
SAID_CHARS: Final = 1_500
MOST_BYTES: Final = 100_000
"""Of a solution."""
PASSED: Final = 0
REFUSED: Final = 10
LIMITS: Final = Limits(
    memory_bytes=1 << 30, processes=64, file_bytes=64 << 20, cpu_seconds=30, scratch_bytes=64 << 20
)
Verdict: TypeAlias = Literal["passed", "refused", "crashed", "hung"]
"""`refused`: the solution is wrong. `crashed` and `hung`: the validator is."""

_AROUND: Final = """\
import subprocess, sys, traceback

SOLUTION = sys.argv[1]


class Refused(Exception):
    pass


def run(*arguments, stdin="", seconds=5.0):
    first = ["/bin/bash"] if SOLUTION.endswith(".sh") else [sys.executable, "-I", "-B"]
    command = [*first, SOLUTION, *map(str, arguments)]
    try:
        done = subprocess.run(
            command, input=stdin, capture_output=True, text=True, errors="replace", timeout=seconds
        )
    except subprocess.TimeoutExpired:
        raise Refused(f"{SOLUTION} did not end within {seconds:g} seconds") from None
    if done.returncode:
        raise Refused(f"{SOLUTION} ended with status {done.returncode}: {done.stderr.strip()[-600:]}")
    return done.stdout


def source():
    with open(SOLUTION, encoding="utf-8", errors="replace") as file:
        return file.read()


def check(holds, message="it is wrong"):
    if not holds:
        raise Refused(message)


with open("validator.py", encoding="utf-8") as file:
    code = compile(file.read(), "validator.py", "exec")
try:
    exec(code, {"__name__": "__main__", "run": run, "source": source, "check": check})
except (Refused, AssertionError) as wrong:
    print(str(wrong) or "an assertion does not hold")
    sys.exit(10)
except SystemExit as end:
    if end.code not in (None, 0):
        print(end.code)
        sys.exit(10)
except BaseException:
    traceback.print_exc()
    sys.exit(42)
"""


class Checked(NamedTuple):
    """What a validator says of a solution, and why."""

    verdict: Verdict
    said: str


async def check(services: Services, challenge: Challenge, solution: str, seconds: float = SECONDS) -> Checked:
    """Have the validator look at a solution, for so long at most."""
    name = new_id("check")
    cell = await services.workspaces.cell(name)
    try:
        files = {**challenge.files, challenge.solution: solution, "validator.py": challenge.validator}
        await services.sandbox.files.call(write, cell.cwd, {**files, "check.py": _AROUND})
        command = Command(
            ("/usr/bin/env", "python3", "-I", "-B", "check.py", challenge.solution), cell, seconds, limits=LIMITS
        )
        done = await without_egress(services.sandbox).run(replace(command, stdout_bytes=8_000, stderr_bytes=8_000))
    finally:
        await services.workspaces.vacate(name)
    said = f"{done.stdout}\n{done.stderr}".strip()[-SAID_CHARS:]
    if done.timed_out or done.exceeded is not None:
        return Checked("hung", said)
    verdicts: dict[int, Verdict] = {PASSED: "passed", REFUSED: "refused"}
    return Checked(verdicts.get(done.exit_code, "crashed"), said)


async def fault(services: Services, challenge: Challenge, seconds: float = SECONDS) -> str | None:
    """Why a validator cannot be relied on; None when it lets its own solution pass and no other."""
    for what, solution, wanted in (
        ("its own solution", challenge.reference, "passed"),
        ("an empty solution", "", "refused"),
        ("a wrong solution", challenge.wrong, "refused"),
    ):
        checked = await check(services, challenge, solution, seconds)
        if checked.verdict != wanted:
            return f"the validator says {checked.verdict!r} of {what}: {checked.said[-300:]}".strip()
    return None


def write(place: Path, files: dict[str, str]) -> None:
    """Lay out files in a directory that nobody has worked in yet."""
    for name, text in files.items():
        (place / name).write_text(text, "utf-8", errors="replace")


def read(path: Path) -> str | None:
    """A solution as it was left; None when there is none that could be one. No link is followed."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with os.fdopen(file, "rb") as opened:
        if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
            return None
        data = opened.read(MOST_BYTES + 1)
    return data.decode("utf-8", "replace") if len(data) <= MOST_BYTES else None
