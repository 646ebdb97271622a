"""`aster feedback`: for people and for programs."""

import json

import pytest

from tests.cli.program import Home


def test_feedback_is_given_listed_and_taken_back(served: Home) -> None:
    made = json.loads(served.call("memory", "add", "Herons eat fish", "--json").stdout)["record"]["id"]
    done = served.call("feedback", "give", "--memory", made, "--rating", "down", "--correction", "They\neat frogs")
    assert done.returncode == 0, done.stderr
    signal = done.stdout.strip()
    assert "They eat frogs" in served.call("feedback", "list").stdout
    found = json.loads(served.call("feedback", "list", "--json").stdout)["signals"]
    assert (found[0]["signal_id"], found[0]["rating"]) == (signal, -1.0)
    assert served.call("feedback", "delete", signal).stdout == f"Took back {signal}.\n"
    assert served.call("feedback", "delete", signal).returncode == 1


def test_ratings_are_checked(served: Home) -> None:
    for wrong in (("--turn", "x", "--rating", "2"), ("--rating", "up")):
        with pytest.raises(SystemExit, match="2"):
            served.call("feedback", "give", *wrong)
    assert served.call("feedback", "give", "--turn", "nowhere", "--rating", "up").returncode == 1
