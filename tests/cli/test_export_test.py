"""`aster replay` and `aster export-test`: a turn run again, and a turn as a test that passes anywhere."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from aster.cli.export_test import name_of, written
from aster.contracts.errors import EngineError
from aster.contracts.replay import Recording
from aster.engine_core.replaying import exporting
from aster.engine_core.replaying.rehearsal import rehearse
from tests.cli.program import Home

MESSAGE = '[[text=4 tools=2 tool=glob input={"pattern":"acme-$round-*"}]] Look for Acme.'


@pytest.fixture(scope="module")
def recorded(served: Home) -> Home:
    """A task with two turns, of which the second calls a tool twice."""
    for message in ("Remember Acme.", MESSAGE):
        done = served.call("run", "--task", "rec", "--yes", message)
        assert done.returncode == 0, done.stderr
    return served


def clean_run(test: Path, **more: str) -> "subprocess.CompletedProcess[str]":
    """Run a test like somebody who has nothing but the package and pytest: no network, no settings, no plugins."""
    env = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    # Nothing is looked up or reached but the loopback: a proxy that is not there would refuse all else.
    away = {
        "http_proxy": "http://127.0.0.1:9",
        "https_proxy": "http://127.0.0.1:9",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
    argv = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        str(test.parent),
        str(test),
    ]
    source = str(Path(exporting.__file__).parents[3])
    return subprocess.run(
        argv,
        env={**env, **away, "PYTHONPATH": source, **more},
        cwd=test.parent,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_replay_is_told_for_people_and_for_programs(recorded: Home) -> None:
    done = recorded.call("replay", "rec")
    assert (done.returncode, "The same calls, the same answer." in done.stdout) == (0, True), done.stderr
    found = json.loads(recorded.call("replay", "rec", "--from-seq", "30", "--json").stdout)
    assert (found["same"], found["recorded"]["answer"]) == (True, found["replayed"]["answer"])
    assert recorded.call("replay", "nowhere").returncode == 1


def test_an_exported_test_passes_in_a_clean_environment(recorded: Home, tmp_path: Path) -> None:
    done = recorded.call("export-test", "rec", "-o", str(tmp_path / "out"), "--name", "looks twice")
    assert done.returncode == 0, done.stderr
    test, recording = tmp_path / "out" / "test_looks_twice.py", tmp_path / "out" / "looks_twice.recording.json"
    assert done.stdout.split("\n")[:2] == [str(test), str(recording)]
    ran = clean_run(test)
    assert (ran.returncode, "1 passed" in ran.stdout) == (0, True), ran.stdout + ran.stderr
    again = recorded.call("export-test", "rec", "-o", str(tmp_path / "out"), "--name", "looks twice")
    assert (again.returncode, "is there already" in again.stderr) == (1, True)

    changed = recording.read_text().replace("acme-2-*", "acme-3-*")
    recording.write_text(changed)
    broken = clean_run(test)
    assert (broken.returncode, "acme-3-*" in broken.stdout) == (1, True), broken.stdout


def test_words_are_taken_out_and_it_still_passes(recorded: Home, tmp_path: Path) -> None:
    done = recorded.call("export-test", "rec", "-o", str(tmp_path), "--name", "quiet", "--redact", "acme")
    assert done.returncode == 0, done.stderr
    for path in tmp_path.iterdir():
        assert "acme" not in path.read_text().lower()
    played = rehearse(tmp_path / "quiet.recording.json", tmp_path / "run")
    assert (played.report.same, [given for _, given in played.calls]) == (
        True,
        [{"pattern": "[redacted]-1-*"}, {"pattern": "[redacted]-2-*"}],
    )


def test_another_model_is_asked_where_one_is_named(recorded: Home, tmp_path: Path) -> None:
    assert recorded.call("export-test", "rec", "-o", str(tmp_path), "--name", "other").returncode == 0
    asked = {"ASTER_TEST_MODEL": "demo", "LLM_PROVIDER": "demo"}
    ran = clean_run(tmp_path / "test_other.py", **asked)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    nobody = {"ASTER_TEST_MODEL": "m", "LLM_PROVIDER": "openai_compatible", "LLM_BASE_URL": "http://127.0.0.1:9/v1"}
    refused = clean_run(tmp_path / "test_other.py", **nobody)
    assert (refused.returncode, "LLM_" in refused.stdout) == (1, True)


def test_what_is_no_recording_is_refused() -> None:
    for data in (b"{}", b"no", b'{"task_id":"t","turn_id":"u","history":[],"events":[],"version":99}'):
        with pytest.raises(EngineError, match="recording"):
            exporting.opened(data)


@pytest.mark.parametrize(
    ("text", "name"), [("Look for Acme!", "look_for_acme"), ("…", "recorded_turn"), ("a" * 99, "a" * 60)]
)
def test_names(text: str, name: str) -> None:
    assert name_of(text) == name


def test_no_title_and_no_name_of_a_task_gets_out_of_its_sentence(tmp_path: Path) -> None:
    events: tuple[dict[str, object], ...] = ()
    evil = '""";raise SystemExit("run");"""'
    for at, made in enumerate(
        (
            Recording(task_id=evil, turn_id="u", history=(), events=events),
            Recording(task_id="t", turn_id="u", history=(), events=events, title=evil),
        )
    ):
        test, _ = written(made, tmp_path, f"evil{at}")
        module = ast.parse(test.read_text())
        assert not [node for node in ast.walk(module) if isinstance(node, ast.Raise)]


def test_a_sentence_is_cleaned_in_every_field() -> None:
    event = {"type": "plan_update", "reason": "The word is acme now", "goal": "acme", "steps": []}
    ran = {"type": "hook_ran", "hook": "h", "hook_event": "PreToolUse", "updated_input": {"name": "acme"}}
    made = Recording(task_id="t", turn_id="u", history=(), events=(event, ran))
    cleaned = exporting.redacted(made, exporting.without_words(["acme", "plan_update"]))
    assert "acme" not in str(cleaned)
    assert cleaned.events[0]["type"] == "plan_update"
