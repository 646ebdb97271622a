"""`aster permissions`: decisions line by line without an engine, and an engine's grants."""

import json
import re
from pathlib import Path
from typing import Any

from tests.cli.program import Home


def test_calls_are_judged_line_by_line_without_an_engine(home: Home, tmp_path: Path) -> None:
    workspace = tmp_path / "ws"
    workspace.mkdir()
    (workspace / "big").write_text("x" * 5000)
    calls = [
        {"tool": "bash", "input": {"command": "rm -rf /"}},
        {"command": "git status"},
        {"tool": "bash", "command": "echo x > big"},
        {"tool": "write_file", "input": {"path": "../x", "content": ""}},
        {"tool": "read_file", "input": {"path": "big"}},
        "ls",
        ["no call"],
    ]
    said = "\n".join(map(json.dumps, calls)) + "\n\nnot json\n"
    done = home.call("permissions", "test", "-", "--workspace", str(workspace), said=said)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line.get("behavior") for line in lines] == ["ask", "allow", "ask", "deny", "allow", "allow", None, None]
    assert lines[0]["decided_by"] == "judgement"
    assert lines[0]["effects"][0] in lines[0]["reason"]
    assert set(lines[1]) == {"behavior", "reason", "effects", "decided_by"}
    assert all("error" in line for line in lines[-2:])
    assert done.returncode == 1


def test_rules_and_modes_count_without_an_engine(home: Home, tmp_path: Path) -> None:
    rules = tmp_path / "rules.json"
    rules.write_text(json.dumps([{"behavior": "deny", "tool": "bash", "pattern": "curl *", "reason": "Offline."}]))
    denied = home.call("permissions", "test", "ls; curl x", "--rules", str(rules))
    assert denied.stdout.startswith("deny (rule:1)")
    assert "Offline." in denied.stdout
    planned = home.call("permissions", "test", "touch x", "--mode", "plan", "--json")
    assert json.loads(planned.stdout)["decided_by"] == "mode:plan"
    rules.write_text('[{"behavior": "never"}]')
    wrong = home.call("permissions", "test", "ls", "--rules", str(rules))
    assert wrong.returncode == 1
    assert "rule 1" in wrong.stderr


def test_declared_tools_are_judged_by_what_they_do_without_an_engine(home: Home, tmp_path: Path) -> None:
    tools = tmp_path / "catalog" / "tools"
    tools.mkdir(parents=True)

    def declare(name: str, command: str, **more: Any) -> None:
        schema = {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]}
        implementation = {"kind": "platform", "ref": "bash", "arguments": {"command": command}}
        said = {"name": name, "description": name, "input_schema": schema, "implementation": implementation, **more}
        (tools / f"{name}.json").write_text(json.dumps(said))

    declare("look", "ls -- {place}")
    declare("wipe", "rm -rf -- {place}")
    declare("deploy", "echo {place}", requires_permission=True)
    calls = [
        {"tool": "look", "input": {"place": "/"}},
        {"tool": "wipe", "input": {"place": "/"}},
        {"tool": "deploy", "input": {"place": "here"}},
        {"tool": "look", "input": {}},
    ]
    env = {"CATALOG_DIR": str(tmp_path / "catalog")}
    done = home.call("permissions", "test", "-", said="\n".join(map(json.dumps, calls)), env=env)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["behavior"] for line in lines] == ["allow", "ask", "ask", "deny"]
    assert "It runs: rm -rf -- /" in lines[1]["reason"]
    assert lines[2]["decided_by"] == "catalog"
    assert (lines[3]["decided_by"], "place" in lines[3]["reason"]) == ("validation", True)
    (tools / "wrong.json").write_text("{}")
    assert "wrong.json" in home.call("permissions", "test", "ls", env=env).stderr


def test_grants_of_an_engine_are_managed(served: Home) -> None:
    made = served.call("permissions", "add", "--tool", "bash", "--pattern", "chmod *", "--expires", "60")
    grant_id = made.stdout.strip()
    listed = served.call("permissions", "list").stdout
    assert grant_id in listed
    assert re.search(r"\d{4}-\d\d-\d\d \d\d:\d\d", listed)
    tested = served.call("permissions", "test", "chmod -R 700 .", "--engine", "--json")
    assert json.loads(tested.stdout)["decided_by"] == f"grant:{grant_id}"
    tried = served.call("permissions", "backtest", "--tool", "bash", "--pattern", "chmod *")
    assert "recorded calls fit" in tried.stdout
    assert served.call("permissions", "revoke", grant_id).stdout == f"Revoked {grant_id}.\n"
    listed = json.loads(served.call("permissions", "list", "--json").stdout)
    assert listed["grants"] == []
    assert served.call("permissions", "revoke", grant_id).returncode == 1
