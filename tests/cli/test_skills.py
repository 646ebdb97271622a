"""`aster skills`: for people and for programs."""

import json
from pathlib import Path

from tests.cli.program import Home


def test_a_folder_becomes_a_skill_of_ones_own_and_goes_again(served: Home, tmp_path: Path) -> None:
    folder = tmp_path / "release-notes"
    (folder / "scripts").mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: release-notes\ndescription: Notes.\n---\nBegin with a verb.")
    (folder / "scripts" / "list.sh").write_text("git log")
    assert served.call("skills", "add", str(folder)).stdout == "Added release-notes.\n"
    assert "release-notes" in served.call("skills").stdout
    shown = served.call("skills", "show", "release-notes").stdout
    assert "release-notes (custom): Notes." in shown
    assert "files: scripts/list.sh" in shown
    assert "Begin with a verb." in shown
    listed = json.loads(served.call("skills", "list", "--json").stdout)["skills"]
    assert {one["name"]: one["origin"] for one in listed}["code-reviewer"] == "platform"
    refused = served.call("skills", "approve", "release-notes")
    assert (refused.returncode, "no composed skill" in refused.stderr) == (1, True)
    assert served.call("skills", "delete", "release-notes").stdout == "Deleted release-notes.\n"
    gone = served.call("skills", "show", "release-notes")
    assert (gone.returncode, "no such skill" in gone.stderr) == (1, True)


def test_what_is_no_skill_is_said(served: Home, tmp_path: Path) -> None:
    done = served.call("skills", "add", str(tmp_path))
    assert done.returncode == 1
    assert "there is no SKILL.md in it" in done.stderr
