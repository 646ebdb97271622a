"""File work away from the loop, as the tools' identity and nobody else."""

import asyncio
import os
import threading
from pathlib import Path

import pytest

from aster.sandbox.backend import Sandbox
from aster.sandbox.file_threads import FileThreads
from aster.sandbox.paths import Workspace


def fields(path: str = "/proc/thread-self/status") -> dict[str, list[str]]:
    return {line.split(":")[0]: line.split(":")[1].split() for line in Path(path).read_text().splitlines()}


async def test_the_kernel_sees_the_tools_identity(sandbox: Sandbox) -> None:
    seen = await sandbox.files.call(fields)
    uid = sandbox.identity.uid if sandbox.identity else os.getuid()
    gid = sandbox.identity.gid if sandbox.identity else os.getgid()
    assert (seen["Uid"][3], seen["Gid"][3]) == (str(uid), str(gid))
    assert seen["Groups"] == [] or sandbox.identity is None
    assert fields()["Uid"][3] == str(os.geteuid())
    assert fields()["Groups"] == [str(group) for group in sorted(os.getgroups())]


async def test_new_files_belong_to_it_and_private_ones_stay_private(
    sandbox: Sandbox, workspace: Workspace, tmp_path: Path
) -> None:
    owned = workspace.cwd / "new"
    await sandbox.files.call(owned.write_text, "x")
    assert owned.stat().st_uid == workspace.cwd.stat().st_uid
    locked = workspace.cwd / "locked"
    locked.write_text("x")
    locked.chmod(0)
    with pytest.raises(PermissionError):
        await sandbox.files.call(locked.read_text)


async def test_a_cancelled_caller_waits_for_the_end_of_the_work() -> None:
    threads = FileThreads(None, workers=1)
    began, go_on, ended = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        began.set()
        go_on.wait(10)
        ended.set()

    task = asyncio.create_task(threads.call(work))
    await asyncio.to_thread(began.wait, 10)
    task.cancel()
    await asyncio.sleep(0)
    assert not task.done()
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended.is_set()
    threads.close()
