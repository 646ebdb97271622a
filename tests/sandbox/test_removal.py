"""A directory is removed with all that is in it, and with nothing that is not."""

from pathlib import Path

from aster.sandbox.removal import remove


def test_all_of_it_goes_and_nothing_else(tmp_path: Path) -> None:
    outside, tree = tmp_path / "outside", tmp_path / "tree"
    (outside / "kept").mkdir(parents=True)
    (outside / "file").write_text("kept")
    (tree / "locked" / "deep").mkdir(parents=True)
    (tree / "locked" / "deep" / "file").write_text("gone")
    (tree / "link").symlink_to(outside)
    (tree / "locked" / "file").symlink_to(outside / "file")
    (tree / "hard").hardlink_to(outside / "file")
    (tree / "locked" / "deep").chmod(0)
    (tree / "locked").chmod(0)
    remove(tree)
    assert not tree.exists()
    assert (outside / "kept").is_dir()
    assert (outside / "file").read_text() == "kept"


def test_a_link_in_its_place_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "outside")
    remove(tmp_path / "link")
    assert (tmp_path / "outside").is_dir()
    remove(tmp_path / "nothing")
