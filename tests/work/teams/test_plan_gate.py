"""The plan gate, whatever a change comes from: connected tools, the background, skills made of calls, what a hook makes
of a call, a conversation that was compacted, and a turn that nobody attends."""

import json
from pathlib import Path
from typing import Any

import pytest

from aster.contracts.blocks import text_of
from aster.contracts.team_requests import GateStatus
from aster.contracts.tools import ToolCall, ToolDef
from aster.engine_core.client_tools import ClientTool
from aster.engine_core.plan_gate import blocked
from aster.sandbox.policy import Policy
from aster.utility_directory.platform_registry import platform_tools
from aster.utility_directory.tool_runtime import Prepared, ToolRuntime
from tests.asset_directory.server import made, serving
from tests.work.teams.drills import Drill, calls, drill, says

PLAN = ("submit_plan", {"plan": "1. Write a.txt."})
WRITE = ("write_file", {"path": "a.txt", "content": "deep"})


def prepared(tool: str, /, **given: Any) -> Prepared:
    found = ToolRuntime(platform_tools()).prepare(ToolCall(id="c", name=tool, input=given))
    assert isinstance(found, Prepared)
    return found


@pytest.mark.parametrize("status", ["required", "pending", "rejected"])
def test_only_looking_and_notes_pass_a_closed_gate(status: GateStatus) -> None:
    policy = Policy(mode="bypass", plan=status)
    for call in (
        prepared("read_file", path="a"),
        prepared("bash", command="ls"),
        prepared("todo_write", todos=[]),
        prepared("submit_plan", plan="x"),
        prepared("ask_user", question="?"),
    ):
        assert blocked(call, policy) is None
    for call in (
        prepared("write_file", path="a", content="b"),
        prepared("bash", command="rm a"),
        prepared("bash", command="touch a", run_in_background=True),
        prepared("use_skill", name="x", input={}),
        Prepared(
            ToolCall(id="c", name="x", input={}), ClientTool(ToolDef(name="x", description="", input_schema={})), {}
        ),
    ):
        outcome = blocked(call, policy)
        assert outcome is not None
        assert (outcome.reason, outcome.data) == ("plan_blocked", {"plan_status": status})
        again = blocked(call, policy, issued=True)
        assert again is not None
        assert "it is unknown whether it finished" in text_of(again.output)


def test_an_open_gate_and_none_let_everything_through() -> None:
    call = prepared("bash", command="rm a")
    assert blocked(call, Policy()) is None
    assert blocked(call, Policy(plan="approved")) is None


async def gated(own: Drill, *plays: Any, **body: Any) -> tuple[str, str]:
    """A member that has to plan and has done all this: the team, and the member's task."""
    own.plays["Ada"] = [*plays, says("That is all.")]
    item = await own.item()
    team_id = (await own.team({"name": "Ada", "item_id": item, "require_plan": True}, **body))["team_id"]
    return team_id, (await own.until(team_id, "Ada", "waiting_approval"))["task_id"]


async def test_q3_connected_tools_and_the_background_are_behind_the_gate(tmp_path: Path) -> None:
    (tmp_path / "mcp").mkdir(parents=True)
    async with serving(made()) as url:
        server = {"url": url, "policy": {"*": "allow"}, "effects": {"add": "pure"}}
        (tmp_path / "mcp" / "box.json").write_text(json.dumps(server))
        async with drill(catalog_dir=tmp_path) as own:
            assert (await own.post("/assets/connect", server_name="box"))[0] == 200
            pure, other = ("box.add", {"a": 1, "b": 2}), ("box.echo", {"text": "x"})
            behind = ("bash", {"command": "sleep 9; touch x", "run_in_background": True})
            _, task_id = await gated(own, calls(pure), calls(other), calls(behind))
            added, echoed, begun = await own.results(task_id)
            assert "3" in added["output"]
            for one in (echoed, begun):
                assert one["output"].startswith("Blocked: plan status is required.")


async def test_q3_what_a_hook_makes_of_a_call_is_what_the_gate_looks_at(tmp_path: Path) -> None:
    reply = json.dumps({"updatedInput": {"command": "touch b.txt"}, "permissionDecision": "allow"})
    hook = {"matcher": "bash", "command": f"echo '{reply}'"}
    (tmp_path / "hooks.json").write_text(json.dumps({"hooks": {"PreToolUse": [hook]}}))
    root = tmp_path / "root"
    root.mkdir()
    async with drill(hooks_path=tmp_path / "hooks.json", allowed_roots=str(root)) as own:
        _, task_id = await gated(own, calls(("bash", {"command": "ls"})))
        (ran,) = await own.results(task_id)
        assert ran["output"].startswith("Blocked: plan status is required.")
        assert list(root.iterdir()) == []


async def test_q3_a_skill_made_of_calls_stops_where_the_gate_closes(tmp_path: Path) -> None:
    async with drill(allowed_roots=str(tmp_path), verifier="off", work_tools="on") as own:
        item = await own.item()
        steps = [
            {"tool": "write_file", "input": {"path": "a.txt", "content": "x"}},
            {"tool": "task_release", "input": {"id": item}},
            {"tool": "write_file", "input": {"path": "b.txt", "content": "x"}},
        ]
        skill = {"name": "leave", "description": "Leaves.", "parameters": [], "steps": steps}
        own.plays["lead"] = [calls(("compose_skill", skill)), says("Proposed.")]
        await own.say("compose it", "t1")
        assert (await own.post("/skills/leave/approve"))[0] == 200
        use = ("use_skill", {"name": "leave", "input": {}})
        own.plays["Ada"] = [calls(use), calls(PLAN), calls(use), says("Well.")]
        team_id = (await own.team({"name": "Ada", "item_id": item, "require_plan": True}))["team_id"]
        plan = await own.until_plan(team_id, "Ada", "pending")
        assert (await own.answer(team_id, plan["request_id"], approve=True))[0] == 200
        member = await own.until(team_id, "Ada", "waiting_approval")
        before, _, after = await own.until_results(member["task_id"], 3)
        assert before["output"].startswith("Blocked: plan status is required.")
        assert after["data"]["step"] == 3
        assert "Blocked: plan status is required." in after["output"]
        assert (tmp_path / "a.txt").exists()
        assert not (tmp_path / "b.txt").exists()


async def test_q3_the_gate_holds_when_the_conversation_was_compacted() -> None:
    async with drill() as own:
        team_id, task_id = await gated(own, calls(("glob", {"pattern": "*"})))
        own.plays["lead"] = [says("It looked around.")]
        answer = await own.http.post(f"/tasks/{task_id}/compact", json={})
        assert answer.status_code == 200, answer.text
        own.plays["Ada"] = [calls(WRITE), says("Blocked.")]
        await own.post(f"/teams/{team_id}/mail", to="Ada", content="Go on.")
        _, write = await own.until_results(task_id, 2)
        assert write["output"].startswith("Blocked: plan status is required.")


async def test_q3_in_a_turn_that_nobody_attends_the_answer_begins_the_next(tmp_path: Path) -> None:
    async with drill(allowed_roots=str(tmp_path), unattended_policy="deny") as own:
        own.plays["lead"] = [says("I lead.")]
        await own.say("hello", "t1", unattended=True)
        team_id, task_id = await gated(own, calls(PLAN), task_id="t1")
        (handed_in,) = await own.until_results(task_id, 1)
        assert "person reviews it" in handed_in["output"]
        assert (await own.get("/hitl/pending"))["pending"] == []
        (asked,) = (await own.get(f"/teams/{team_id}/requests?status=pending"))["requests"]
        own.plays["Ada"] = [calls(WRITE), says("Written.")]
        assert (await own.answer(team_id, asked["request_id"], approve=True))[0] == 200
        _, write = await own.until_results(task_id, 2)
        assert write.get("error") is None
        await own.until(team_id, "Ada", "idle")
        (mail,) = await own.mail(team_id, "plan_approval_response")
        assert (mail["sender"], mail["metadata"]["approve"]) == ("person", True)
