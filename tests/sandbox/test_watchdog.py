"""Counting what a tree of processes uses."""

import asyncio
import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from aster.sandbox.limits import Limits
from aster.sandbox.watchdog import Watchdog, descendants, usage

FAMILY = "bash -c 'sleep 300 & echo up; wait' & wait"


@pytest.fixture
def family() -> Iterator[subprocess.Popen[bytes]]:
    """A shell, its child and its grandchild, all there."""
    process = subprocess.Popen(["/bin/bash", "-c", FAMILY], stdout=subprocess.PIPE, start_new_session=True)
    assert process.stdout is not None
    assert process.stdout.readline() == b"up\n"
    yield process
    end(process)


def end(process: subprocess.Popen[bytes]) -> None:
    for pid in list(descendants(process.pid)):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    process.communicate()


def test_everything_below_is_counted(family: subprocess.Popen[bytes]) -> None:
    pids = list(descendants(family.pid))
    assert (pids[0], len(pids)) == (family.pid, 3)
    used = usage(pids)
    assert used.processes == 3
    assert 1 << 20 < used.resident_bytes < 100 << 20


async def test_it_returns_when_there_is_too_much(family: subprocess.Popen[bytes], tmp_path: Path) -> None:
    watchdog = Watchdog(Limits(memory_bytes=1024), tmp_path)
    said = await asyncio.wait_for(watchdog.watch(family.pid), 10)
    assert said == "Killed: the command and what it started used more than 0 MB of memory."


def test_what_is_within_the_limits_is_left_alone(family: subprocess.Popen[bytes], tmp_path: Path) -> None:
    assert Watchdog(Limits(), tmp_path).excess(family.pid) is None
    assert Watchdog(Limits(processes=0), tmp_path).excess(family.pid) is None


def test_memory_that_several_share_counts_once(tmp_path: Path) -> None:
    program = "$x = 'a' x (80 << 20); for (1..4) { last unless fork } print qq(up\\n); $| = 1; sleep 300"
    process = subprocess.Popen(["/usr/bin/perl", "-e", f"$| = 1; {program}"], stdout=subprocess.PIPE)
    assert process.stdout is not None
    try:
        for _ in range(5):
            assert process.stdout.readline() == b"up\n"
        pids = list(descendants(process.pid))
        assert usage(pids).resident_bytes > 300 << 20
        assert Watchdog(Limits(memory_bytes=250 << 20), tmp_path).excess(process.pid) is None
    finally:
        end(process)


def test_a_process_that_is_gone_uses_nothing(tmp_path: Path) -> None:
    process = subprocess.Popen(["/bin/true"])
    process.wait()
    assert usage(list(descendants(process.pid))).resident_bytes == 0
    assert Watchdog(Limits(), tmp_path / "gone").excess(process.pid) is None
