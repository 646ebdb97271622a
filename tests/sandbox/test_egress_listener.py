"""The port inside a sandbox's network: opened from outside, or a clear refusal, and nothing left behind."""

import asyncio
import socket
import subprocess
from pathlib import Path

import pytest

from aster.contracts.errors import EngineError, ErrorCode
from aster.sandbox.backend import Command, Sandbox
from aster.sandbox.egress_ledger import EgressLimits
from aster.sandbox.egress_listener import InsideListener
from aster.sandbox.egress_proxy import EgressProxy
from aster.sandbox.egress_rules import EgressRules
from aster.sandbox.identity import tool_identity
from aster.sandbox.networked import Networked
from aster.sandbox.paths import Workspace
from aster.sandbox.reach import Reach


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_a_process_that_is_gone_has_no_network() -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    before = open_files()
    listener = InsideListener(3128, tool_identity())
    with pytest.raises(EngineError) as caught:
        listener.open(gone.pid)
    listener.close()
    assert caught.value.code is ErrorCode.SANDBOX_UNAVAILABLE
    assert "No such file" in str(caught.value.details)
    assert open_files() == before


def test_one_that_is_not_needed_leaves_nothing() -> None:
    before = open_files()
    InsideListener(3128, None).close()
    assert open_files() == before


async def test_commands_leave_nothing_open(sandbox: Sandbox, workspace: Workspace) -> None:
    outside = Networked(sandbox, EgressRules(()), Reach(), lambda *_, **__: None)
    command = Command.shell("curl -s -m 5 http://a.example/ http://b.example/", workspace, 10)
    await outside.run(command)
    before = open_files()
    for _ in range(5):
        assert "was refused" in (await outside.run(command)).stderr
    assert open_files() <= before


async def test_a_socket_that_comes_too_late_is_closed() -> None:
    proxy = EgressProxy(EgressRules(()), Reach(), EgressLimits())
    await proxy.close()
    late = socket.create_server(("127.0.0.1", 0))
    proxy.attach(late)
    await asyncio.sleep(0)
    assert late.fileno() == -1
