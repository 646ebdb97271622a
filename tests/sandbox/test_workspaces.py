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
    mine, yours = await workspaces.of("me", "t1"), await workspaces.of("you", "t1")
    assert mine.cwd == settings.data_dir / "workspaces" / "me" / "t1"
    assert mine.cwd != yours.cwd
    assert stat.S_IMODE(mine.cwd.stat().st_mode) == 0o700
    assert mine.cwd.stat().st_uid == (sandbox.identity.uid if sandbox.identity else os.getuid())
    assert mine.hidden == (settings.data_dir,)
    assert await workspaces.of("me", "t1") == mine


async def test_it_is_made_ready_again_when_somebody_was_at_it(settings: Settings, sandbox: Sandbox) -> None:
    workspaces = Workspaces(settings, sandbox)
    workspace = await workspaces.of("me", "t1")
    workspace.cwd.rmdir()
    settings.data_dir.chmod(0o700)
    again = await workspaces.of("me", "t1")
    assert (await sandbox.run(Command.shell("echo here", again))).stdout == "here\n"


async def test_it_is_found_again_after_a_restart(settings: Settings, sandbox: Sandbox) -> None:
    first = await Workspaces(settings, sandbox).of("me", "t1")
    await sandbox.run(Command.shell("echo kept > file", first))
    again = await Workspaces(settings, sandbox).of("me", "t1")
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
    workspace = await Workspaces(chosen, sandbox).of("me", "t1")
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
        await Workspaces(chosen, sandbox).of("me", "t1")
    assert raised.value.code is ErrorCode.CONFIGURATION_INVALID


async def test_each_task_begins_with_nothing_and_leaves_nothing(settings: Settings, sandbox: Sandbox) -> None:
    workspaces = Workspaces(settings, sandbox)
    first, second = await workspaces.of("me", "one"), await workspaces.of("me", "two")
    await sandbox.run(Command.shell("mkdir d; echo x > d/f; chmod 0 d; ln -s ../two/kept link", first))
    await sandbox.run(Command.shell("echo kept > kept", second))
    await workspaces.discard("me", "one")
    await workspaces.discard("me", "never")
    assert not first.cwd.exists()
    assert (second.cwd / "kept").read_text() == "kept\n"
    assert list((await workspaces.of("me", "one")).cwd.iterdir()) == []


async def test_a_fork_begins_with_what_is_there(settings: Settings, sandbox: Sandbox) -> None:
    workspaces = Workspaces(settings, sandbox)
    await sandbox.run(
        Command.shell("mkdir d; echo x > d/f; ln -s d/f link; mkfifo p", await workspaces.of("me", "a"))
    )
    await workspaces.copy("me", "a", "b")
    await workspaces.copy("me", "never", "c")
    copied = await workspaces.of("me", "b")
    done = await sandbox.run(Command.shell("cat d/f; readlink link; echo y >> d/f; ls", copied))
    assert done.stdout.split() == ["x", "d/f", "d", "link"]
    assert list((await workspaces.of("me", "c")).cwd.iterdir()) == []


@pytest.mark.parametrize(("workspace", "keep"), [("user", False), ("task", True)])
async def test_what_is_to_be_kept_is_kept(settings: Settings, sandbox: Sandbox, workspace: str, keep: bool) -> None:
    chosen = settings.model_copy(update={"workspace": workspace, "workspace_keep": keep})
    workspaces = Workspaces(chosen, sandbox)
    mine = await workspaces.of("me", "one")
    (mine.cwd / "file").write_text("kept")
    await workspaces.discard("me", "one")
    assert (mine.cwd / "file").read_text() == "kept"
    assert (await workspaces.of("me", "two") == mine) is (workspace == "user")


async def test_the_operators_roots_are_never_removed(tmp_path: Path, settings: Settings, sandbox: Sandbox) -> None:
    (tmp_path / "project").mkdir()
    workspaces = Workspaces(settings.model_copy(update={"allowed_roots": str(tmp_path / "project")}), sandbox)
    await workspaces.of("me", "one")
    await workspaces.discard("me", "one")
    await workspaces.copy("me", "one", "two")
    assert (tmp_path / "project").is_dir()


async def test_a_link_where_a_task_should_work_is_refused(settings: Settings, sandbox: Sandbox) -> None:
    """A command of a workspace for the whole user could have put it there."""
    around = await Workspaces(settings.model_copy(update={"workspace": "user"}), sandbox).of("me", "one")
    await sandbox.run(Command.shell("ln -s /etc two", around))
    with pytest.raises(EngineError, match="should be the directory of a task"):
        await Workspaces(settings, sandbox).of("me", "two")
    await Workspaces(settings, sandbox).discard("me", "two")
    assert Path("/etc").is_dir()


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
