"""A repository that is somebody else's: nothing that it brings along is run by the engine's own git."""

import subprocess
from pathlib import Path

from tests.work.worktrees.forest import forest, git, sample

HOOKS = ("post-checkout", "pre-commit", "reference-transaction", "post-index-change", "pre-auto-gc")


def trapped(root: Path) -> Path:
    """Sets every trap that git knows; the file that appears when one is sprung."""
    mark = root.parent / "sprung"
    root.parent.chmod(0o777)
    trap = root / "trap.sh"
    trap.write_text(f'#!/bin/sh\necho "$0 $@" >> {mark}\ncat\n')
    trap.chmod(0o755)
    (root / ".gitattributes").write_text("*.py filter=evil diff=evil merge=evil\n")
    git(root, "add", ".")
    git(root, "commit", "--quiet", "-m", "attributes")
    for hook in HOOKS:
        place = root / ".git" / "hooks" / hook
        place.write_text(f"#!/bin/sh\necho {hook} >> {mark}\n")
        place.chmod(0o755)
    elsewhere = root / ".git" / "more"
    elsewhere.write_text(f'[filter "late"]\n\tsmudge = {trap}\n\tclean = {trap}\n\trequired = true\n')
    (root / ".git" / "info" / "attributes").write_text("*.txt filter=late\nmain.py filter=late\n")
    for name, value in {
        "filter.evil.smudge": str(trap),
        "filter.evil.clean": str(trap),
        "filter.evil.process": str(trap),
        "filter.evil.required": "true",
        "diff.evil.command": str(trap),
        "diff.evil.textconv": str(trap),
        "diff.external": str(trap),
        "core.fsmonitor": str(trap),
        "core.hooksPath": str(root / ".git" / "hooks"),
        "core.pager": str(trap),
        "core.sshCommand": str(trap),
        "core.worktree": str(root.parent),
        "credential.helper": str(trap),
        "alias.worktree": f"!{trap}",
        "submodule.recurse": "true",
        f"includeIf.gitdir:{root}/.git/worktrees/**.path": str(elsewhere),
    }.items():
        subprocess.run(
            ("git", "config", name, value), cwd=root, check=True, env={"PATH": "/usr/bin:/bin"}, timeout=30
        )
    return mark


async def test_nothing_of_a_hostile_repository_is_run(tmp_path: Path) -> None:
    root = sample(tmp_path / "repository")
    mark = trapped(root)
    async with forest(root) as own:
        item, tree = await own.planted("parser")
        assert (own.worktree("parser") / "main.py").read_text() == "print('old')\n"
        await own.claim(item, "w")
        await own.done(item, "w")
        (own.worktree("parser") / "main.py").write_text("print('new')\n")
        assert await own.remove(tree["worktree_id"]) == "dirty"
        (own.worktree("parser") / "main.py").write_text("print('old')\n")
        assert await own.remove(tree["worktree_id"]) == "removed"
    assert not mark.exists(), mark.read_text()


async def test_a_configuration_that_cannot_be_read_is_not_worked_with(tmp_path: Path) -> None:
    root = sample(tmp_path / "repository")
    with (root / ".git" / "config").open("ab") as config:
        config.write(b'[filter "\xff"]\n\tsmudge = touch sprung\n')
    async with forest(root) as own:
        (item,) = await own.ids("Dig")
        status, answer = await own.plant("parser", item)
        assert (status, answer["details"]["reason"]) == (409, "git_failed")
        assert not own.worktree("parser").exists()


UNFIT = (
    *("../up", "-x", ".hidden", "a/b", "a..b", "x.lock", "x.", "", "a b", "x" * 65, "é", "a\n", "--force", "x@{1}"),
)


async def test_a_name_is_never_a_path_nor_an_option(tmp_path: Path) -> None:
    root = sample(tmp_path / "repository")
    async with forest(root) as own:
        (item,) = await own.ids("Dig")
        for name in UNFIT:
            status, answer = await own.plant(name, item)
            assert (status, answer["error"]) == (422, "INVALID_REQUEST"), name
        assert git(root, "branch", "--list", "wt/*") == ""
