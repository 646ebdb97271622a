"""Folders of skills on the disk: what is wrong is left out and said, and nothing outside the root is read."""

import os
from pathlib import Path

import pytest

from aster.skills import folders
from aster.skills.skill import ALL_BYTES, MOST_FILES, Skill

MANIFEST = "---\nname: {name}\ndescription: Does {name}.\nallowed-tools: Read Bash(git:*)\n---\nDo it."


def make(root: Path, directory: str, text: str | None = None, **files: str) -> Path:
    folder = root / directory
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(MANIFEST.format(name=directory) if text is None else text)
    for name, data in files.items():
        path = folder / name.replace("__", "/")
        path.parent.mkdir(exist_ok=True)
        path.write_text(data)
    return folder


def read(root: Path) -> tuple[dict[str, Skill], dict[str, str]]:
    found = folders.read(root, "operator")
    return {skill.name: skill for skill in found.skills}, dict(found.problems)


def test_a_folder_is_a_skill_with_its_files(tmp_path: Path) -> None:
    folder = make(tmp_path, "pdf", scripts__run="print(1)", notes="x")
    (folder / ".hidden").write_text("no")
    (folder / "scripts" / "__pycache__").mkdir()
    (folder / "scripts" / "__pycache__" / "x.pyc").write_text("no")
    skills, problems = read(tmp_path)
    assert problems == {}
    assert skills["pdf"].files == {"notes": b"x", "scripts/run": b"print(1)"}
    assert skills["pdf"].tools == ("Read", "Bash(git:*)")
    assert (skills["pdf"].description, skills["pdf"].body, skills["pdf"].source) == (
        "Does pdf.",
        "Do it.",
        "operator",
    )


def test_name_and_description_fall_back_to_directory_and_first_line(tmp_path: Path) -> None:
    make(tmp_path, "plain", "# Reads plain text\n\nMore.")
    make(tmp_path, "broken", "---\n: [ : }\n---\n\nStill here.")
    make(tmp_path, "empty", "")
    skills, problems = read(tmp_path)
    assert problems == {}
    assert {name: skill.description for name, skill in skills.items()} == {
        "plain": "Reads plain text",
        "broken": "Still here.",
        "empty": "No description.",
    }


@pytest.mark.parametrize(
    "name", ["../x", "a/b", "A", "a b", "a\tb", "-a", "a--b", "a_b", ".a", "a" * 65, "ä", "SKILL.md"]
)
def test_a_name_that_is_none_is_refused_not_healed(tmp_path: Path, name: str) -> None:
    make(tmp_path, "x", f"---\nname: {name}\n---\nbody")
    skills, problems = read(tmp_path)
    assert skills == {}
    assert "its name must be" in problems["x"]


def test_what_leads_out_of_the_root_is_left_out(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    make(outside, "secret", scripts__key="hunter2")
    root = tmp_path / "root"
    (root / "linked").mkdir(parents=True)
    (root / "linked" / "SKILL.md").symlink_to(outside / "secret" / "SKILL.md")
    (root / "whole").symlink_to(outside / "secret", target_is_directory=True)
    folder = make(root, "honest")
    (folder / "key").symlink_to(outside / "secret" / "scripts" / "key")
    skills, problems = read(root)
    assert list(skills) == ["honest"]
    assert skills["honest"].files == {}
    assert "leads out" in problems["linked"]
    assert "leads out" in problems["whole"]


def test_what_is_too_large_or_no_file_is_left_out_and_the_others_are_there(tmp_path: Path) -> None:
    make(tmp_path, "fine")
    make(tmp_path, "huge", "x" * 300_000)
    make(tmp_path, "long", "x" * 150_000)
    many = make(tmp_path, "many")
    for number in range(MOST_FILES + 1):
        (many / f"f{number}").write_text("")
    heavy = make(tmp_path, "heavy")
    for number in range(5):
        (heavy / f"f{number}").write_bytes(b"\0" * (ALL_BYTES // 4))
    (tmp_path / "nothing").mkdir()
    (tmp_path / "pipe").mkdir()
    os.mkfifo(tmp_path / "pipe" / "SKILL.md")
    make(tmp_path, "twin", MANIFEST.format(name="fine"))
    skills, problems = read(tmp_path)
    assert list(skills) == ["fine"]
    assert sorted(problems) == ["heavy", "huge", "long", "many", "nothing", "pipe", "twin"]


def test_no_root_is_no_skills(tmp_path: Path) -> None:
    assert folders.read(tmp_path / "none", "operator") == folders.Found()
