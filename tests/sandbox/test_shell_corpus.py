"""A corpus of shell commands, each with the decision it must get: daily work, and destruction in every disguise.

Lines of `shell_corpus.jsonl` can be given to `aster permissions test -` as they are.
"""

import json
import time
from pathlib import Path

import pytest

from aster.sandbox.paths import Workspace
from aster.sandbox.permissions import decide

HERE = Path(__file__).parent
PUBLIC = Path(__file__).parents[3] / "shared" / "data" / "security"
CORPUS = [json.loads(line) for line in (HERE / "shell_corpus.jsonl").read_text().splitlines()]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """What the commands of the corpus speak of: `big.txt` has something to lose."""
    root = tmp_path_factory.mktemp("corpus") / "root"
    (root / "src").mkdir(parents=True)
    (root / "build").mkdir()
    (root / "src" / "app.py").write_text("x")
    (root / "a.txt").write_text("x")
    (root / "big.txt").write_text("x" * 5000)
    return Workspace((root,), root, scratch=Path("/tmp"))


def test_the_corpus_is_what_it_should_be() -> None:
    assert len({case["command"] for case in CORPUS}) == len(CORPUS) >= 300
    assert {case["expect"] for case in CORPUS} == {"allow", "ask"}


def wrong(place: Workspace, expected: str) -> list[tuple[str, str]]:
    decisions = ((case["command"], decide("bash", {"command": case["command"]}, place)) for case in cases(expected))
    return [(command, found.behavior) for command, found in decisions if found.behavior != expected]


def cases(expected: str) -> list[dict[str, str]]:
    return [case for case in CORPUS if case["expect"] == expected]


def test_nothing_destructive_is_allowed_silently(place: Workspace) -> None:
    assert wrong(place, "ask") == []


def test_daily_work_is_not_disturbed(place: Workspace) -> None:
    assert wrong(place, "allow") == []


def test_every_question_says_what_is_at_stake(place: Workspace) -> None:
    for case in cases("ask"):
        decision = decide("bash", {"command": case["command"]}, place)
        assert decision.effects, case
        assert decision.decided_by == "judgement"


@pytest.mark.parametrize("wrapping", ["timeout 5 {}", "sh -c {!r}", "true && {}", "( {} )", "FOO=1 {}"])
def test_what_is_dangerous_stays_so_when_it_is_wrapped(place: Workspace, wrapping: str) -> None:
    plain = ("rm -rf /", "git reset --hard", "dd if=/dev/zero of=/dev/sda", "chmod -R 777 .", "find . -delete")
    for command in plain:
        assert decide("bash", {"command": wrapping.format(command)}, place).behavior == "ask"


HOSTILE = {
    "wrappers": "env " * 2000 + "rm -rf /",
    "runners": "poetry run " * 400 + "'a b'",
    "find": "find . " + "-exec find . " * 500,
    "eval": "eval " * 200 + "rm -rf /",
    "doubling": "x=$x$x;" * 50 + "$x",
    "values": "a=1;" * 2000 + "$a",
    "words": "rm " + "a " * 20_000,
    "directories": "cd a;" * 3000 + "rm -rf x",
    "substitutions": "$(" * 3000,
    "braces": "{" * 5000,
    "aliases": "git " + "-c x=!x " * 2000,
}


@pytest.mark.parametrize("command", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_command_is_judged_in_no_time(place: Workspace, command: str) -> None:
    began = time.process_time()
    assert decide("bash", {"command": command}, place).behavior == "ask"
    assert time.process_time() - began < 2.0


def test_public_strings_neither_crash_nor_lead_out(place: Workspace) -> None:
    injected = PUBLIC / "command_exec_unix.txt"
    climbing = PUBLIC / "traversal_basic.txt"
    for payload in injected.read_text(errors="replace").splitlines() if injected.exists() else [";id"]:
        assert decide("bash", {"command": payload}, place).behavior in ("allow", "ask")
    for path in climbing.read_text(errors="replace").splitlines() if climbing.exists() else ["../../etc/passwd"]:
        decision = decide("write_file", {"path": path}, place)
        outside = not place.contains(place.locate(path)) if path else True
        assert decision.behavior == ("deny" if outside else "allow")
