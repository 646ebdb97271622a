"""Paths a model may give: what stays inside is opened, what leads outside is refused, also when it changes."""

import os
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aster.sandbox.paths import PathRefused, Workspace

PUBLIC = Path(__file__).parents[3] / "shared" / "data" / "security" / "traversal_basic.txt"
OWN = [
    "../outside",
    "a/../../outside",
    "/etc/passwd",
    "//etc/passwd",
    "/proc/self/root/etc/passwd",
    "~/../outside",
    "./../../../../../../../etc/passwd",
    "..",
    "/",
    "~root/.ssh",
    "link",
    "link/x",
    "up/x",
    "loop",
    "x\x00y",
    "",
    "a" * 5000,
    "\udcff\ud800",
]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    (root / "deep" / "er").mkdir(parents=True)
    (root / "deep" / "file").write_text("text")
    (tmp_path / "outside").write_text("secret")
    (root / "link").symlink_to(tmp_path / "outside")
    (root / "up").symlink_to("..")
    (root / "loop").symlink_to("loop")
    (root / "inner").symlink_to("deep/file")
    return root


def opens(workspace: Workspace, given: str) -> str | None:
    """What a file tool would read there; None when it is refused or not there."""
    try:
        fd = workspace.open(workspace.resolve(given), os.O_RDONLY)
    except (PathRefused, OSError):
        return None
    with os.fdopen(fd) as file:
        return file.read()


@pytest.mark.parametrize("given", [*OWN, *(PUBLIC.read_text().splitlines() if PUBLIC.exists() else [])])
def test_no_string_leads_out(root: Path, given: str) -> None:
    workspace = Workspace((root,), root)
    assert opens(workspace, given) is None
    try:
        assert workspace.resolve(given).is_relative_to(root)
    except PathRefused as refusal:
        said = str(refusal)
    else:
        said = ""
    assert str(root.parent / "outside") not in said


@given(st.text(alphabet="./~ab\\%20e", max_size=30))
def test_whatever_resolves_is_inside(given: str) -> None:
    workspace = Workspace((Path("/srv/root"),), Path("/srv/root/below"))
    try:
        assert workspace.resolve(given).is_relative_to("/srv/root")
    except PathRefused:
        pass


@pytest.mark.parametrize("given", ["deep/file", "./deep/er/../file", "inner", "~/deep/file", "up/root/deep/file"])
def test_what_is_inside_is_opened(root: Path, given: str) -> None:
    assert opens(Workspace((root,), root), given) == "text"
    assert opens(Workspace((root,), root), str(root / "deep" / "file")) == "text"


def test_relative_paths_start_in_the_working_directory(root: Path) -> None:
    workspace = Workspace((root,), root / "deep")
    assert opens(workspace, "file") == "text"
    assert workspace.show(root / "deep" / "file") == "file"
    assert workspace.show(root / "other") == str(root / "other")


def test_a_link_put_there_after_the_judgement_is_refused(root: Path) -> None:
    workspace = Workspace((root,), root)
    (root / "fresh").write_text("mine")
    judged_file, judged_below = workspace.resolve("fresh"), workspace.resolve("deep/file")
    (root / "fresh").unlink()
    (root / "fresh").symlink_to(root.parent / "outside")
    (root / "deep").rename(root / "elsewhere")
    (root / "deep").symlink_to(root.parent)
    for path in (judged_file, judged_below):
        with pytest.raises(PathRefused, match="became a link"):
            workspace.open(path, os.O_RDONLY)
    with pytest.raises(PathRefused), workspace.directory(root / "deep" / "new", create=True):
        pass
    assert not (root.parent / "new").exists()


def test_a_race_is_never_won(root: Path) -> None:
    """One thread swaps a directory and a link for each other while another opens through it."""
    workspace = Workspace((root,), root)
    (root / "swap").mkdir()
    (root / "swap" / "outside").write_text("mine")
    (root / "trap").symlink_to(root.parent)
    over = threading.Event()

    def swap() -> None:
        while not over.is_set():
            for source, target in (("swap", "kept"), ("trap", "swap"), ("swap", "trap"), ("kept", "swap")):
                (root / source).rename(root / target)

    swapper = threading.Thread(target=swap)
    swapper.start()
    try:
        read = {opens(workspace, "swap/outside") for _ in range(2000)}
    finally:
        over.set()
        swapper.join()
    assert read <= {"mine", None}


def test_opening_never_waits(root: Path) -> None:
    os.mkfifo(root / "pipe")
    os.close(Workspace((root,), root).open(root / "pipe", os.O_RDONLY))


def test_missing_directories_are_made_where_they_belong(root: Path) -> None:
    workspace = Workspace((root,), root)
    path = workspace.resolve("new/newer/file")
    with pytest.raises(FileNotFoundError), workspace.directory(path.parent):
        pass
    with workspace.directory(path.parent, create=True):
        pass
    assert (root / "new" / "newer").is_dir()


def test_the_innermost_place_decides_what_is_visible(tmp_path: Path) -> None:
    workspace = Workspace((tmp_path, tmp_path / "data" / "mine"), tmp_path, hidden=(tmp_path / "data",))
    assert workspace.contains(tmp_path / "x")
    assert workspace.contains(tmp_path / "data" / "mine" / "x")
    assert not workspace.contains(tmp_path / "data" / "brain")
    assert not workspace.contains(tmp_path.parent)
    with pytest.raises(PathRefused):
        workspace.resolve("data/brain")


def test_scratch_is_for_commands_alone(root: Path) -> None:
    workspace = Workspace((root,), root, scratch=Path("/tmp"))
    assert workspace.writable(Path("/tmp/x"))
    assert workspace.strictly_inside(Path("/tmp/x"))
    assert not workspace.strictly_inside(Path("/tmp"))
    assert not workspace.strictly_inside(root)
    assert not workspace.strictly_inside(root.parent)
    with pytest.raises(PathRefused, match="only while a shell command runs"):
        workspace.resolve("/tmp/x")
