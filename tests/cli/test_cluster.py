"""`aster cluster`: replicas, a database and a balancer that come and go together."""

import os
import re
import signal

import httpx2
import psutil
import pytest

from tests import postgres
from tests.cli.program import Home
from tests.cli.terminal import Terminal

pytestmark = pytest.mark.timeout(180)

START = 90.0


def field(shown: str, name: str) -> str:
    found = re.search(rf"^  {name}\s+(\S+)$", shown, re.MULTILINE)
    assert found, shown
    return found[1]


def ask(url: str, key: str, message: str) -> str:
    with httpx2.Client(headers={"X-Engine-Key": key}, timeout=30, trust_env=False) as client:
        answer = client.post(f"{url}/execute", json={"task_id": "t1", "message": message})
        assert answer.status_code == 200, answer.text
        return answer.text


def test_a_killed_replica_is_not_missed_and_ctrl_c_ends_everything(home: Home) -> None:
    args = ("cluster", "--replicas", "2", "--port", str(home.port))
    with Terminal(*args, env={**home.env, "EMBEDDINGS_PROVIDER": "off"}, cwd=home.directory) as terminal:
        shown = terminal.expect(r"Ctrl-C stops everything\.", START)
        key = field(shown, "key")
        assert field(shown, "console") == f"{home.url}/console"
        assert "PostgreSQL is process" in shown
        started = [int(pid) for pid in re.findall(r"is process (\d+)", shown)]
        assert len(started) == 3
        assert httpx2.get(f"{home.url}/tasks", trust_env=False).status_code == 401, "it has a key of its own"
        assert '"phase":"completed"' in ask(home.url, key, "hello")
        os.kill(started[1], signal.SIGKILL)
        terminal.expect(r"replica 1 ended \(SIGKILL\); it is started again", START)
        assert '"phase":"completed"' in ask(home.url, key, "and again")
        started.append(int(re.findall(r"is process (\d+)", terminal.expect(r"replica 1 is process \d+", START))[0]))
        terminal.press("\x03")
        assert terminal.wait(60) == 0
    assert not [pid for pid in started if psutil.pid_exists(pid)]


def test_a_number_of_replicas_that_cannot_be_meant_is_refused(home: Home) -> None:
    done = home.aster("cluster", "--replicas", "0")
    assert done.returncode == 2
    assert "between 1 and 16" in done.stderr


def test_a_database_of_ones_own_is_used_and_kept(home: Home, database_url: str) -> None:
    env = {**home.env, "DATABASE_URL": database_url, "EMBEDDINGS_PROVIDER": "off", "ENGINE_API_KEY": "mine"}
    for greeting in ("hello", "and again"):
        args = ("cluster", "--replicas", "1", "--port", str(home.port), "--no-open")
        with Terminal(*args, env=env, cwd=home.directory) as terminal:
            shown = terminal.expect(r"Ctrl-C stops everything\.", START)
            assert field(shown, "key") == "mine"
            assert "PostgreSQL is process" not in shown
            assert '"phase":"completed"' in ask(home.url, "mine", greeting)
            terminal.press("\x03")
            assert terminal.wait(60) == 0
    counted = postgres.server().run("SELECT count(*) FROM turns", database_url.rsplit("/", 1)[1])
    assert counted == [(2,)]
