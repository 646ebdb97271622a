"""`aster keys`: a key is shown once, opens the door, and can be taken back."""

import json

from tests.cli.conftest import wait_until_healthy
from tests.cli.program import Home


def test_a_key_is_made_listed_replaced_and_withdrawn(home: Home) -> None:
    made = home.aster("keys", "create", "laptop")
    assert made.returncode == 0
    assert made.stdout.startswith("ak-")
    listed = home.call("keys", "list")
    assert "laptop" in listed.stdout
    assert "active" in listed.stdout
    assert made.stdout.strip() not in listed.stdout
    new = json.loads(home.call("keys", "rotate", "laptop", "--json").stdout)
    assert new["key"] != made.stdout.strip()
    states = [key["state"] for key in json.loads(home.call("keys", "list", "--json").stdout)["keys"]]
    assert sorted(states) == ["active", "replaced"]
    assert home.call("keys", "revoke", "laptop").returncode == 0
    again = home.call("keys", "revoke", "laptop")
    assert (again.returncode, again.stderr.count("\n")) == (1, 1)


def test_no_keys_is_said(home: Home) -> None:
    assert "no keys" in home.call("keys", "list").stdout
    assert not (home.directory / "brain.sqlite").exists()


def test_a_key_opens_the_engine_for_its_user(home: Home) -> None:
    key = home.call("keys", "create", "bot", "--user", "bob").stdout.strip()
    with home.start("serve", env={"ENGINE_LOG_LEVEL": "ERROR"}) as process:
        try:
            wait_until_healthy(process, home.url)
            refused = home.call("run", "hello")
            assert (refused.returncode, "key" in refused.stderr) == (1, True)
            assert home.call("run", "[[text=1]]", "--key", key, "--task", "bobs").returncode == 0
            listed = home.call("tasks", "--json", env={"ENGINE_KEY": key})
            assert [task["task_id"] for task in json.loads(listed.stdout)["tasks"]] == ["bobs"]
        finally:
            process.terminate()
            process.communicate(timeout=20)
