"""`aster project`: making projects, having them worked on, and what came of them."""

import json
import time
from typing import Any

from tests.cli.program import Home


def settled(served: Home, project: str) -> dict[str, Any]:
    """The project when nothing works on it."""
    for _ in range(200):
        found = json.loads(served.call("project", "show", project, "--json").stdout)
        if found["project"].get("advance") is None and not found["project"].get("going"):
            return found
        time.sleep(0.1)
    raise AssertionError("it does not come to rest")


def test_a_project_is_made_advanced_shown_paused_and_deleted(served: Home) -> None:
    made = served.call("project", "new", "Bridge", "--brief", "Two carts wide", "--steps", "9", "--json")
    project = json.loads(made.stdout)
    name = project["project_id"]
    assert project["budget"]["steps"] == 9
    assert name in served.call("project").stdout
    added = served.call("project", "add", name, "Draw it", "Order stone")
    assert len(added.stdout.splitlines()) == 2
    assert "is worked on in the task" in served.call("project", "advance", name).stdout
    found = settled(served, name)
    assert [item["status"] for item in found["items"]] == ["completed", "pending"]
    shown = served.call("project", "show", name).stdout
    assert "Two carts wide" in shown
    assert "[ready] Order stone" in shown
    assert "note: Draw it" in shown
    assert f"{name} [PAUSED]" in served.call("project", "pause", name, "--now").stdout
    assert served.call("project", "advance", name).returncode == 1
    assert f"{name} [ACTIVE]" in served.call("project", "resume", name).stdout
    changed = json.loads(
        served.call("project", "edit", name, "--title", "Big bridge", "--usd", "2", "--json").stdout
    )
    assert (changed["title"], changed["budget"]["steps"], changed["budget"]["usd"]) == ("Big bridge", 9, 2)
    assert served.call("run", "hello", "--task", "report").returncode == 0
    assert "[ACTIVE]" in served.call("project", "switch", name, "--task", "report").stdout
    assert "[ACTIVE]" in served.call("project", "exit", name, "--task", "report").stdout
    assert f"{name} [ARCHIVED]" in served.call("project", "delete", name).stdout
    assert name in served.call("project", "list", "--status", "ARCHIVED").stdout
    assert served.call("project", "delete", name, "--hard").stdout == f"Deleted {name}.\n"
    assert served.call("project", "show", name).returncode == 1
