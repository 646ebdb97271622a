"""Which directory a user works in, and that the tools' identity can use it."""

import os
import stat
from pathlib import Path

import pytest

from aster.contracts.errors import EngineError, ErrorCode
from aster.infra.settings import Settings
from aster.sandbox.backend import Command, Sandbox
from aster.sandbox.workspaces import Workspaces, safe_name


async def test_each_user_has_a_private_directory(settings: Settings, sandbox: Sandbox) -> None:
    workspaces = Workspaces(settings, sandbox)
    mine, yours = await workspaces.of("me"), await workspaces.of("you")
    assert mine.cwd == settings.data_dir / "workspaces" / "me"
    assert mine.cwd != yours.cwd
    assert stat.S_IMODE(mine.cwd.stat().st_mode) == 0o700
    assert mine.cwd.stat().st_uid == (sandbox.identity.uid if sandbox.identity else os.getuid())
    assert mine.hidden == (settings.data_dir,)
    assert await workspaces.of("me") == mine


async def test_it_is_made_ready_again_when_somebody_was_at_it(settings: Settings, sandbox: Sandbox) -> None:
    workspaces = Workspaces(settings, sandbox)
    workspace = await workspaces.of("me")
    workspace.cwd.rmdir()
    settings.data_dir.chmod(0o700)
    again = await workspaces.of("me")
    assert (await sandbox.run(Command.shell("echo here", again))).stdout == "here\n"


async def test_it_is_found_again_after_a_restart(settings: Settings, sandbox: Sandbox) -> None:
    first = await Workspaces(settings, sandbox).of("me")
    await sandbox.run(Command.shell("echo kept > file", first))
    again = await Workspaces(settings, sandbox).of("me")
    assert (await sandbox.run(Command.shell("cat file", again))).stdout == "kept\n"


async def test_the_operators_root_can_be_read_and_changed(
    tmp_path: Path, settings: Settings, sandbox: Sandbox
) -> None:
    project = tmp_path / "project"
    project.mkdir(mode=0o755)
    (project / "file").write_text("old\n")
    (project / "file").chmod(0o600)
    (tmp_path / "alias").symlink_to(project)
    chosen = settings.model_copy(update={"allowed_roots": str(tmp_path / "alias")})
    workspace = await Workspaces(chosen, sandbox).of("me")
    assert workspace.roots == (project,)
    done = await sandbox.run(
        Command.shell("cat file && echo new >> file && mkdir made && echo x > made/x", workspace)
    )
    assert (done.stdout, done.exit_code) == ("old\n", 0)
    assert (project / "file").read_text() == "old\nnew\n"
    assert (project / "file").stat().st_uid == os.getuid()


@pytest.mark.parametrize("root", ["/", "/proc", "/sys/kernel", "/nowhere/at/all"])
async def test_a_root_that_cannot_be_lent_is_refused(settings: Settings, sandbox: Sandbox, root: str) -> None:
    chosen = settings.model_copy(update={"allowed_roots": root})
    with pytest.raises(EngineError) as raised:
        await Workspaces(chosen, sandbox).of("me")
    assert raised.value.code is ErrorCode.CONFIGURATION_INVALID


def test_names_are_safe_and_never_meet() -> None:
    users = [
        "me",
        "Me",
        "ME",
        ".",
        "..",
        "",
        "a/b",
        "a\\b",
        "a b",
        "ü",
        "x" * 200,
        "x" * 201,
        "\ud800",
        "-",
        "a\x00",
    ]
    hashed = [safe_name(user) for user in users]
    assert len(set(hashed)) == len(users)
    assert all(name.strip(".") and len(name) <= 64 and "/" not in name and "\x00" not in name for name in hashed)
    assert safe_name("me") == "me"
    assert safe_name(safe_name("a/b")) != safe_name("a/b")
