"""What git itself does half-way in a worktree does not break it; what it would lose is seen all the same."""

from pathlib import Path

import pytest

from aster.contracts.worktrees import Worktree
from aster.work.worktrees import binding, naming
from aster.work.worktrees.binding import Kind
from tests.work.worktrees.forest import git, sample


@pytest.fixture
def tree(tmp_path: Path) -> Worktree:
    """A worktree that was made by hand, two commits behind."""
    root = sample(tmp_path / "repository")
    place = naming.place(root, "parser")
    git(root, "worktree", "add", "--quiet", "-b", "wt/parser", str(place))
    (place / "main.py").write_text("print('theirs')\n")
    git(place, "commit", "--quiet", "-am", "theirs")
    (root / "main.py").write_text("print('ours')\n")
    git(root, "commit", "--quiet", "-am", "ours")
    return Worktree(
        worktree_id="tree-1",
        name="parser",
        repository=str(root),
        path=str(place),
        branch="wt/parser",
        status="active",
        item_id="work-1",
    )


def test_one_that_is_whole(tree: Worktree) -> None:
    assert binding.broken(tree) is None
    assert binding.under_way(tree) is None


def test_a_rebase_that_stopped_is_on_its_branch_still(tree: Worktree) -> None:
    with pytest.raises(Exception, match="rebase"):
        git(Path(tree.path), "rebase", "--quiet", "main")
    assert binding.broken(tree) is None
    assert binding.under_way(tree) == "rebase-merge"


def test_so_is_a_search_for_a_commit(tree: Worktree) -> None:
    git(Path(tree.path), "bisect", "start", "HEAD", "HEAD~1")
    assert binding.broken(tree) is None
    assert binding.under_way(tree) == "BISECT_LOG"


def test_a_commit_without_a_branch_is_astray(tree: Worktree) -> None:
    git(Path(tree.path), "checkout", "--quiet", "--detach")
    found = binding.broken(tree)
    assert found is not None
    assert found.kind is Kind.ASTRAY


def test_what_is_no_repository_is_named(tmp_path: Path, tree: Worktree) -> None:
    bare = tmp_path / "bare"
    bare.mkdir()
    git(bare, "init", "--quiet", "--bare")
    for place in (tmp_path, bare, Path(tree.path)):
        assert binding.unsuited(place) is not None
    assert binding.unsuited(Path(tree.repository)) is None
    linked = tmp_path / "linked"
    linked.mkdir()
    (linked / ".git").symlink_to(Path(tree.repository) / ".git")
    assert binding.unsuited(linked) is not None
