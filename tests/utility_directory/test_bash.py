"""The shell as a tool: its words for the model, its effect, its question."""

from dataclasses import replace
from pathlib import Path

from aster.contracts.errors import ErrorCode
from aster.contracts.tools import Effect, OutcomeClass
from aster.infra.settings import Settings
from aster.sandbox.selection import choose
from aster.utility_directory.tool import ToolLimits
from tests.utility_directory.conftest import Bench, said


async def test_output_is_returned_and_heard(bench: Bench) -> None:
    outcome = await bench.run("bash", command="echo out; echo err >&2", description="say something")
    assert outcome.ok
    assert said(outcome) == "out\n[stderr]\nerr"
    assert outcome.data == {"exit_code": 0, "timed_out": False, "truncated": False, "signal": None}
    assert sorted(bench.heard) == [("err\n", "stderr"), ("out\n", "stdout")]


async def test_silence_is_said(bench: Bench) -> None:
    assert await bench.text("bash", command="true") == "(no output)"


async def test_a_status_is_shown(bench: Bench) -> None:
    outcome = await bench.run("bash", command="echo why; exit 4")
    assert (outcome.ok, outcome.reason, outcome.failure) == (False, "exit_status", OutcomeClass.DIAGNOSTIC)
    assert said(outcome) == "Error: command exited with status 4\nwhy"
    assert outcome.data is not None
    assert outcome.data["exit_code"] == 4
    assert said(await bench.run("bash", command="false")) == "Error: command exited with status 1\n(no output)"


async def test_a_time_out_is_said_with_what_there_was(bench: Bench) -> None:
    reason, text = await bench.error("bash", command="echo so far; sleep 60", timeout_seconds=0.3)
    assert reason == "timeout"
    assert text.startswith("Error: Timeout (0.3s)")
    assert text.endswith("so far")


async def test_the_engines_limit_is_above_the_models(bench: Bench) -> None:
    strict = Bench(replace(bench.context, limits=ToolLimits(bash_seconds=0.2)))
    reason, text = await strict.error("bash", command="sleep 60", timeout_seconds=500)
    assert (reason, "Timeout (0.2s)" in text) == ("timeout", True)


async def test_very_long_output_is_cut_before_it_is_kept(bench: Bench) -> None:
    prepared = bench.prepared("bash", command="seq 1 1000000; seq 1 1000000 >&2")
    outcome, (kept,) = await bench.runtime.run(prepared, bench.context)
    text = kept.data.decode()
    assert 4_900_000 < len(text) < 5_100_000
    assert text.count("bytes cut") == 2
    assert text.startswith("1\n2\n")
    assert text.endswith("1000000")
    assert len(said(outcome)) < 17_000


async def test_nothing_is_kept_between_commands_but_files(bench: Bench) -> None:
    await bench.text("bash", command="cd /; export X=1; echo kept > ~/file")
    assert await bench.text("bash", command="echo $X; pwd; cat file") == f"\n{bench.root}\nkept"


async def test_effects_and_neighbours(bench: Bench) -> None:
    looks, changes = bench.prepared("bash", command="ls | wc -l"), bench.prepared("bash", command="rm x")
    assert (looks.effect, looks.concurrent) == (Effect.PURE, True)
    assert (changes.effect, changes.concurrent) == (Effect.IRREVERSIBLE, False)
    assert await bench.check("bash", command="rm x") is None


async def test_destruction_is_asked_about(bench: Bench) -> None:
    assert bench.decide("bash", command="ls").behavior == "allow"
    assert bench.decide("bash", command="rm -rf ~").behavior == "ask"


async def test_a_nul_is_an_error_not_a_crash(bench: Bench) -> None:
    assert (await bench.error("bash", command="echo \x00"))[0] == "invalid_input"


async def test_without_a_sandbox_it_is_refused(bench: Bench, settings: Settings) -> None:
    nothing = await choose(settings.model_copy(update={"sandbox": "bubblewrap"}), [Path("/bin/false")])
    refused = await Bench(replace(bench.context, sandbox=nothing)).run("bash", command="echo ran")
    assert (refused.reason, refused.failure) == (ErrorCode.SANDBOX_UNAVAILABLE, OutcomeClass.FATAL)
    assert nothing.report.how_to_fix in said(refused)
    nothing.close()
