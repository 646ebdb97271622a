"""What may run in a turn: modes, rules, grants, and nobody there to ask."""

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from aster.contracts.errors import EngineError
from aster.contracts.permissions import GrantScope
from aster.testing import ModelServer, Reply, Text, ToolCall
from tests.engine_core.frames import events, last
from tests.live import Live, live

TREE = {"command": "chmod -R 700 ."}


def call(command: str, number: int = 1) -> Reply:
    return Reply([ToolCall("bash", {"command": command}, id=f"call{number}")])


def tree(number: int = 1) -> Reply:
    return call(TREE["command"], number)


def done() -> Reply:
    return Reply([Text("done")])


async def answered(aster: Live, task_id: str, **body: Any) -> list[Any]:
    """A turn in which a permission is asked for and answered like this."""
    async with aster.executing("go", task_id) as stream:
        request = (await stream.until("hitl_request")).data
        response = await aster.http.post("/hitl/respond", json={"request_id": request["request_id"], **body})
        assert response.status_code == 200, response.text
        return await stream.rest()


async def test_plan_mode_looks_and_changes_nothing(model: ModelServer) -> None:
    async with live(model) as aster:
        note = ToolCall("todo_write", {"todos": [{"content": "Look", "status": "pending"}]}, id="note")
        model.enqueue(call("echo x > f; true"), call("ls", 2), Reply([note]), done())
        frames = await aster.execute("go", permission_mode="plan")
        first, second, third = events(frames, "tool_result")
        assert first["error"] == "permission_denied"
        assert "plan mode" in first["output"]
        assert "error" not in second
        assert "error" not in third
        assert events(frames, "thread_lifecycle")[0]["request"]["permission_mode"] == "plan"


async def test_auto_mode_asks_before_every_change(model: ModelServer) -> None:
    async with live(model, permission_mode="auto") as aster:
        model.enqueue(call("ls"), call("touch x", 2), done())
        frames = await answered(aster, "t1", answer="yes")
        assert [event["tool_call_id"] for event in events(frames, "permission_prompt")] == ["call2"]
        prompt = events(frames, "permission_prompt")[0]
        assert (prompt["decided_by"], prompt["offer"]) == ("mode:auto", {"tool": "bash", "pattern": "touch *"})


async def test_the_mode_of_the_message_wins_and_bypass_is_the_operators(model: ModelServer) -> None:
    async with live(model, permission_mode="plan") as aster:
        body = {"message": "go", "task_id": "t1", "permission_mode": "bypass"}
        refused = await aster.http.post("/execute", json=body)
        assert (refused.status_code, refused.json()["error"]) == (403, "PERMISSION_DENIED")
        assert "PERMISSION_BYPASS_ALLOWED" in refused.json()["message"]
        wrong = await aster.http.post("/execute", json={**body, "permission_mode": "yolo"})
        assert wrong.status_code == 422
        model.enqueue(call("touch x"), done())
        frames = await aster.execute("go", permission_mode="default")
        assert "error" not in events(frames, "tool_result")[0]


async def test_bypass_asks_nothing_and_denials_hold(model: ModelServer, tmp_path: Path) -> None:
    rules = tmp_path / "rules.json"
    rules.write_text(json.dumps([{"behavior": "deny", "tool": "bash", "content": "curl *"}]))
    async with live(model, permission_bypass_allowed=True, permission_rules_path=rules) as aster:
        model.enqueue(tree(), call("env curl x", 2), done())
        frames = await aster.execute("go", permission_mode="bypass")
        allowed, denied = events(frames, "tool_result")
        assert "error" not in allowed
        assert denied["error"] == "permission_denied"
        assert events(frames, "hitl_request") == []


async def test_an_always_is_a_grant_that_holds_from_the_next_call_on(model: ModelServer) -> None:
    async with live(model) as aster:
        model.enqueue(tree(), tree(2), done())
        frames = await answered(aster, "t1", answer="always")
        request = events(frames, "hitl_request")[0]
        assert request["options"] == ["yes", "no", "always task", "always agent", "always everywhere"]
        assert request["offer"] == {"tool": "bash", "pattern": "chmod -R 700 ."}
        assert len(events(frames, "hitl_request")) == 1
        resolved = events(frames, "hitl_resolved")[0]
        first, second = events(frames, "tool_call")
        assert "grant_id" not in first
        assert second["grant_id"] == resolved["grant_id"]
        assert resolved["scope"] == "task"
        (grant,) = (await aster.http.get("/permissions")).json()["grants"]
        assert (grant["grant_id"], grant["scope"], grant["task_id"], grant["uses"], grant["request_id"]) == (
            resolved["grant_id"],
            "task",
            "t1",
            1,
            request["request_id"],
        )
        model.enqueue(call("chmod -R 700 . && ls"), done())
        frames = await answered(aster, "t1", answer="no")
        assert events(frames, "tool_result")[0]["error"] == "permission_denied"
        assert (await aster.http.delete(f"/permissions/{grant['grant_id']}")).status_code == 200
        model.enqueue(tree(), done())
        assert len(events(await answered(aster, "t1", answer="no"), "hitl_request")) == 1


@pytest.mark.parametrize(("scope", "elsewhere"), [("task", True), ("agent", False), ("everywhere", False)])
async def test_how_far_an_always_reaches(model: ModelServer, scope: GrantScope, elsewhere: bool) -> None:
    async with live(model) as aster:
        model.enqueue(tree(), done())
        await answered(aster, "t1", answer="always", scope=scope)
        model.enqueue(tree(), done())
        if elsewhere:
            assert events(await answered(aster, "t2", answer="no"), "hitl_request")
        else:
            assert events(await aster.execute("go", "t2"), "hitl_request") == []


async def test_an_answer_has_to_fit(model: ModelServer) -> None:
    async with live(model) as aster:
        model.enqueue(tree(), done())
        async with aster.executing("go") as stream:
            await stream.until("hitl_request")
            for body in ({"answer": "always for my dog"}, {"answer": "yes", "scope": "task"}, {"answer": "maybe"}):
                refused = await aster.http.post("/hitl/respond", json={"task_id": "t1", **body})
                assert refused.status_code == 422, refused.text
            await aster.http.post("/hitl/respond", json={"task_id": "t1", "answer": "always everywhere"})
            frames = await stream.rest()
        assert events(frames, "hitl_resolved")[0]["scope"] == "everywhere"


async def test_what_asks_every_time_offers_no_always(model: ModelServer, tmp_path: Path) -> None:
    rules = tmp_path / "rules.json"
    rule = {"behavior": "ask", "tool": "write_file", "every_time": True, "reason": "Files are shared."}
    rules.write_text(json.dumps({"rules": [rule]}))
    async with live(model, permission_rules_path=rules) as aster:
        write = ToolCall("write_file", {"path": "a", "content": "x"}, id="w")
        model.enqueue(Reply([write]), done())
        await aster.http.post("/permissions", json={"tool": "write_file"})
        async with aster.executing("go") as stream:
            request = (await stream.until("hitl_request")).data
            assert request["options"] == ["yes", "no"]
            assert "Files are shared." in request["reason"]
            refused = await aster.http.post("/hitl/respond", json={"task_id": "t1", "answer": "always"})
            assert refused.status_code == 422
            await aster.http.post("/hitl/respond", json={"task_id": "t1", "answer": "yes"})
            frames = await stream.rest()
        assert "error" not in events(frames, "tool_result")[0]


async def test_a_denial_that_comes_after_the_question_still_holds(model: ModelServer, tmp_path: Path) -> None:
    rules = tmp_path / "rules.json"
    rules.write_text("[]")
    async with live(model, permission_rules_path=rules) as aster:
        model.enqueue(tree(), done())
        async with aster.executing("go") as stream:
            await stream.until("hitl_request")
            rules.write_text(json.dumps([{"behavior": "deny", "tool": "bash", "pattern": "chmod *"}]))
            await aster.http.post("/hitl/respond", json={"task_id": "t1", "answer": "yes"})
            frames = await stream.rest()
        assert events(frames, "tool_result")[0]["error"] == "permission_denied"
        assert events(frames, "tool_call") == []
        assert (await aster.http.get("/permissions")).json()["rules"][0]["pattern"] == "chmod *"


async def test_nobody_there_fails_closed_or_parks(model: ModelServer) -> None:
    question = Reply([ToolCall("ask_user", {"question": "Which?"}, id="asked")])
    async with live(model, unattended_policy="deny") as aster:
        model.enqueue(tree(), question, done())
        frames = await aster.execute("go", unattended=True)
        refused, unanswered = events(frames, "tool_result")
        assert refused["error"] == "permission_denied"
        assert "nobody is there" in refused["output"]
        assert unanswered["error"] == "unattended"
        assert events(frames, "hitl_request") == []
        assert last(frames)["phase"] == "completed"
    async with live(model) as aster:
        model.enqueue(tree(), done())
        async with aster.executing("go", unattended=True) as stream:
            await stream.until("thread_lifecycle", phase="suspended")
        assert len((await aster.http.get("/hitl/pending")).json()["pending"]) == 1


async def test_three_refusals_in_a_row_raise_a_suggestion(model: ModelServer) -> None:
    async with live(model) as aster:
        model.enqueue(*(call(f"touch {name}", number) for number, name in enumerate("abcd")), done())
        frames = await aster.execute("go", permission_mode="plan")
        (suggestion,) = events(frames, "permission_suggestion")
        assert (suggestion["denials"], suggestion["mode"]) == (3, "plan")
        order = [frame.event for frame in frames if frame.event in ("tool_result", "permission_suggestion")]
        assert order == ["tool_result"] * 3 + ["permission_suggestion", "tool_result"]


async def test_a_grant_of_one_user_is_nothing_to_another(model: ModelServer) -> None:
    async with live(model, engine_api_key="k1") as aster:
        made = (await aster.http.post("/permissions", json={"tool": "bash", "pattern": "chmod *"})).json()
        held = await aster.engine.brain.grants("somebody else")
        assert held == []
        assert not await aster.engine.brain.drop_grant("somebody else", made["grant_id"])


async def test_bypass_as_the_usual_mode_has_to_be_allowed(model: ModelServer) -> None:
    with pytest.raises(EngineError, match="PERMISSION_BYPASS_ALLOWED"):
        async with live(model, permission_mode="bypass"):
            pass


async def test_a_mode_and_a_grant_survive_a_restart(model: ModelServer, tmp_path: Path) -> None:
    brain = tmp_path / "brain.sqlite"
    async with live(model, sqlite_db_path=brain) as aster:
        model.enqueue(call("touch a"))
        async with aster.executing("go", permission_mode="auto") as stream:
            await stream.until("thread_lifecycle", phase="suspended")
    async with live(model, sqlite_db_path=brain) as aster:
        model.enqueue(call("touch b", 2), call("mkdir c", 3), done())
        async with aster.replaying(task_id="t1") as stream:
            await stream.until("hitl_request", tool_call_id="call1")
            await aster.http.post("/hitl/respond", json={"task_id": "t1", "answer": "always"})
            await stream.until("hitl_request", tool_call_id="call3")
            await aster.http.post("/hitl/respond", json={"task_id": "t1", "answer": "no"})
            frames = await stream.rest()
        assert [event["tool_call_id"] for event in events(frames, "tool_call")] == ["call1", "call2"]


async def test_an_always_may_hold_for_a_while_only(model: ModelServer) -> None:
    async with live(model, permission_mode="auto") as aster:
        model.enqueue(Reply([ToolCall("bash", {"command": "touch a"})]), Reply([Text("done")]))
        async with aster.executing("go") as stream:
            asked = (await stream.until("hitl_request")).data["request_id"]
            await stream.until("thread_lifecycle", phase="suspended")
            wrong = {"request_id": asked, "answer": "yes", "expires_in_seconds": 60}
            assert (await aster.http.post("/hitl/respond", json=wrong)).status_code == 422
            none = {"request_id": asked, "answer": "always", "expires_in_seconds": 0}
            assert (await aster.http.post("/hitl/respond", json=none)).status_code == 422
            right = {"request_id": asked, "answer": "always", "scope": "everywhere", "expires_in_seconds": 3600}
            assert (await aster.http.post("/hitl/respond", json=right)).status_code == 200
            said = (await stream.until("hitl_resolved")).data
            await stream.rest()
        (grant,) = (await aster.http.get("/permissions")).json()["grants"]
        assert (grant["grant_id"], grant["expires_at"]) == (said["grant_id"], said["expires_at"])
        made, ends = (datetime.fromisoformat(grant[name]) for name in ("created_at", "expires_at"))
        assert ends - made == timedelta(hours=1)
