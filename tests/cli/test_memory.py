"""`aster memory`: for people and for programs."""

import json

import pytest

from aster.infra.ids import new_id
from tests.cli.program import Home


@pytest.fixture
def word() -> str:
    """A word no other test uses."""
    return new_id("zz").replace("-", "")


def added(served: Home, text: str, *more: str) -> str:
    done = served.call("memory", "add", text, *more, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["record"]["id"]


def test_what_is_added_is_found_and_shown(served: Home, word: str) -> None:
    old = added(served, f"The {word} is red", "--subject", word, "--predicate", "colour")
    new = added(served, f"The {word} is blue", "--subject", word, "--predicate", "colour")
    found = json.loads(served.call("memory", "search", word, "--store", "knowledge", "--json").stdout)
    assert [hit["id"] for hit in found["hits"] if word in hit["text"]] == [new]
    assert new in served.call("memory", "search", word).stdout
    assert new in served.call("memory", "list", "--store", "knowledge").stdout
    shown = served.call("memory", "show", new).stdout
    assert shown.startswith(f"The {word} is blue\nfact {new}: person,")
    assert f"version {old}: The {word} is red" in shown
    assert served.call("memory", "add", "-", said=f"a {word} day").stdout.startswith("created fact-")


def test_forgetting_shows_first_and_asks(served: Home, word: str) -> None:
    record = added(served, f"forget {word}", "--kind", "episode")
    shown = served.call("memory", "forget", record)
    assert shown.returncode == 1
    assert f"{record}  forget {word}" in shown.stdout
    assert "--yes" in shown.stderr
    assert served.call("memory", "forget", record, "--yes").stdout == "Forgot 1 memory.\n"
    gone = served.call("memory", "show", record)
    assert (gone.returncode, gone.stderr.split("'")[1]) == (1, record)
    assert served.call("memory", "forget").returncode == 1


def test_memory_travels_in_a_file(served: Home, word: str) -> None:
    record = added(served, f"travels {word}")
    file = served.directory / f"{word}.json"
    assert served.call("memory", "export", str(file)).returncode == 0
    assert file.stat().st_mode & 0o077 == 0
    count = len(json.loads(file.read_bytes())["records"])
    assert served.call("memory", "import", str(file)).stdout == f"Took in 0 memories; {count} were here already.\n"
    assert served.call("memory", "forget", record, "--yes").returncode == 0
    assert (
        served.call("memory", "import", str(file)).stdout == f"Took in 1 memories; {count - 1} were here already.\n"
    )
    assert served.call("memory", "show", record).returncode == 0
    file.write_text("[]")
    assert served.call("memory", "import", str(file)).returncode == 1
    stats = json.loads(served.call("memory", "stats", "--json").stdout)
    assert {one["store"] for one in stats["stores"]} >= {"knowledge"}
    assert "knowledge" in served.call("memory", "stats").stdout
