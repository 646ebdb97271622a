"""`aster doctor`: every line says what was found, and what to do when that is bad."""

import json
from pathlib import Path
from typing import Any

from tests.cli.program import Home
from tests.process import free_port


def examine(home: Home, *args: str, **env: str) -> tuple[int, dict[str, dict[str, Any]]]:
    done = home.call("doctor", "--json", *args, env=env)
    report = json.loads(done.stdout)
    return done.returncode, {check["check"]: check for check in report["checks"]}


def test_a_fresh_machine_is_ready(home: Home) -> None:
    code, found = examine(home)
    assert code == 0
    assert [name for name, check in found.items() if check["status"] != "ok"] == ["model"]
    assert "LLM_PROVIDER" in found["model"]["fix"]
    assert "all-MiniLM-L6-v2-int8/" in found["memory"]["found"]
    assert not (home.directory / "brain.sqlite").exists()


def test_the_report_reads_well(home: Home) -> None:
    done = home.aster("doctor")
    assert done.returncode == 0
    assert any(line.startswith("ok   python") for line in done.stdout.splitlines())
    assert any(line.startswith("warn model") for line in done.stdout.splitlines())


def test_a_running_engine_is_found(served: Home) -> None:
    code, found = examine(served)
    assert code == 0
    assert found["engine"]["status"] == "ok"
    assert "process" in found["lock"]["found"]
    assert found["schema"]["status"] == "ok"
    assert found["memory"]["found"].endswith("every record has its own")
    assert "words alone" in examine(served, EMBEDDINGS_PROVIDER="off")[1]["memory"]["found"]


def test_an_engine_elsewhere_is_asked(served: Home, home: Home) -> None:
    assert examine(home, "--url", served.url)[1]["engine"]["status"] == "ok"
    code, found = examine(home, ENGINE_URL=f"http://127.0.0.1:{free_port()}")
    assert (code, found["engine"]["status"]) == (1, "fail")


def test_a_wrong_setting_fails(home: Home) -> None:
    code, found = examine(home, TASK_SLOTS="-1")
    assert code == 1
    assert "TASK_SLOTS" in found["settings"]["found"]


def test_a_model_that_cannot_be_reached_fails(home: Home) -> None:
    code, found = examine(home, LLM_PROVIDER="openai", LLM_BASE_URL=f"http://127.0.0.1:{free_port()}/v1")
    assert (code, found["model"]["status"]) == (1, "fail")
    assert "LLM_BASE_URL" in found["model"]["fix"]
    code, found = examine(home, LLM_PROVIDER="openai")
    assert "LLM_API_KEY" in found["model"]["fix"]


def test_nodes_of_pools_are_visited(served: Home, home: Home) -> None:
    gone = f"http://127.0.0.1:{free_port()}/v1|gone"
    code, found = examine(home, LLM_POOL_FOREGROUND=f"{served.url}/v1|m", LLM_POOL_WORKER=gone)
    assert (code, found["model"]["status"], found["pools"]["status"]) == (1, "ok", "fail")
    assert "gone at" in found["pools"]["found"]
    assert "|m" not in found["pools"]["found"]
    code, found = examine(home, LLM_POOL_FOREGROUND=f"{served.url}/v1|m")
    assert (code, found["pools"]["found"]) == (0, "nodes that answer: 1")
    code, found = examine(home, LLM_POOL_CODING="http:://typo|m")
    assert "http:://typo|m" in found["pools"]["fix"]


def test_a_file_that_is_no_brain_fails(home: Home, tmp_path: Path) -> None:
    wrong = tmp_path / "notes.txt"
    wrong.write_text("not a brain " * 100)
    code, found = examine(home, "--db", str(wrong))
    assert (code, found["schema"]["status"]) == (1, "fail")
    code, found = examine(home, "--db", str(tmp_path))
    assert (code, found["brain"]["status"]) == (1, "fail")


def test_what_each_isolation_said_is_told(home: Home) -> None:
    _, found = examine(home, SANDBOX="bubblewrap")
    assert found["sandbox"] == {"check": "sandbox", "status": "ok", "found": "bubblewrap: a probe ran in it"}
    _, found = examine(home, SANDBOX="docker", SANDBOX_DOCKER_IMAGE="none/such")
    assert (found["sandbox"]["status"], "docker: " in found["sandbox"]["found"]) == ("fail", True)
    assert "SANDBOX_DOCKER_IMAGE" in found["sandbox"]["fix"]


def test_a_port_that_is_taken_fails(home: Home, served: Home) -> None:
    code, found = examine(home, SANDBOX="off", HOST="192.0.2.1")
    assert code == 1
    assert found["sandbox"]["status"] == "warn"
    assert "HOST" in found["port"]["fix"]
