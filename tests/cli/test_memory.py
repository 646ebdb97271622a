"""`aster memory`: for people and for programs."""

import json

import httpx2
import pytest

from aster.infra.ids import new_id
from tests.cli.program import Home
from tests.cli.terminal import Terminal


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
    assert f"{old}: The {word} is red" in served.call("memory", "changes").stdout
    changed = json.loads(served.call("memory", "changes", "--json").stdout)
    assert (old, new) in [(one["old_id"], one["new_id"]) for one in changed]


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


def test_what_was_typed_before_the_preview_forgets_nothing(served: Home, word: str) -> None:
    record = added(served, f"keep {word}", "--kind", "episode")
    with Terminal("memory", "forget", record, env=served.env, cwd=served.directory) as terminal:
        terminal.press("y\r")
        terminal.expect(r"\[y/N\] ")
        terminal.press("n\r")
        assert terminal.wait() == 1
    assert served.call("memory", "show", record).returncode == 0


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


def test_what_is_wrong_is_put_right(served: Home, word: str) -> None:
    record = added(served, f"The {word} is red", "--subject", word, "--predicate", "colour")
    done = served.call("memory", "correct", record, f"The {word} is teal")
    assert done.returncode == 0, done.stderr
    assert f"The {word} is teal" in done.stdout
    new = done.stdout.split()[1].rstrip(":")
    shown = served.call("memory", "show", new).stdout
    assert shown.startswith(f"The {word} is teal")
    assert f"The {word} is red" in shown
    episode = added(served, f"saw {word}", "--kind", "episode")
    fields = served.call("memory", "correct", episode, "--set", f"description=heard {word}", "--json")
    assert json.loads(fields.stdout)["record"]["text"].endswith(f"heard {word}")
    assert served.call("memory", "correct", new).returncode == 1
    assert served.call("memory", "correct", new, "--set", "nonsense").returncode == 1


def test_the_soul_and_its_history_are_shown(served: Home) -> None:
    now = served.call("memory", "soul")
    assert (now.returncode, bool(now.stdout.strip())) == (0, True)
    history = served.call("memory", "soul", "--history").stdout
    assert history.startswith(now.stdout)
    assert "(now)" in history
    assert json.loads(served.call("memory", "soul", "--history", "--json").stdout)["versions"]


def test_what_connects_people_is_shown(served: Home, word: str) -> None:
    assert served.call("memory", "social", word).stdout == "Nothing is known that connects them.\n"
    params = {"kind": "edge", "fields": {"source": word, "relation": "KNOWS", "target": f"{word}\x1b[2J"}}
    with httpx2.Client(base_url=served.url, trust_env=False) as client:
        written = client.post("/memory/records", json=params)
    assert written.status_code < 300, written.text
    shown = served.call("memory", "social", word)
    assert "-[KNOWS]->" in shown.stdout
    assert "\x1b" not in shown.stdout
    assert json.loads(served.call("memory", "social", word, "--json").stdout)[0]["edges"]
