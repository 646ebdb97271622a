"""Sub-agents over HTTP: what they see, what they may do, who is asked, how they are stopped, and who pays."""

import json
from pathlib import Path
from typing import Any

from aster.testing import Hold, ModelServer, Reply, Rule, Text, ToolCall, Usage
from tests.engine_core.frames import events, last
from tests.live import Live, live, text_of

DANGER = ToolCall("bash", {"command": "chmod -R 700 ."}, id="danger")


def spawn(prompt: str, call_id: str = "s1", **more: Any) -> ToolCall:
    return ToolCall("spawn_agent", {"prompt": prompt, **more}, id=call_id)


def rules(*more: Rule, child: Reply, call: ToolCall | None = None) -> list[Rule]:
    """The person says "go", which is handed over as "work"; the child answers that."""
    return [
        *more,
        Rule(Reply([Text("Noted.")]), match="heron$", round=0),
        Rule(Reply([Text("The child says so.")]), tool="spawn_agent"),
        Rule(Reply([call or spawn("work")]), match="^go", round=0),
        Rule(child, match="^work", round=0),
    ]


async def parked(engine: Live, task_id: str) -> None:
    """Wait until a task waits; the question is shown a moment before."""
    async with engine.replaying(task_id=task_id) as stream:
        await stream.until("thread_lifecycle", phase="suspended")


async def test_a_child_sees_its_prompt_alone_and_the_parent_its_last_words_alone(
    aster: Live, model: ModelServer
) -> None:
    looked = Reply([Text("Let me look."), ToolCall("glob", {"pattern": "*"}, id="look")])
    model.script(rules(Rule(Reply([Text("Found 42.")]), tool="glob"), child=looked))
    await aster.execute("remember the word heron")
    frames = await aster.execute("go")
    assert last(frames)["phase"] == "completed"
    assert text_of(frames) == "The child says so."
    [result] = events(frames, "tool_result")
    assert (result["output"], result["tool_call_id"]) == ("Found 42.", "s1")
    begun, ended = events(frames, "subagent_lifecycle")
    assert (begun["phase"], begun["agent"], begun["tool_call_id"]) == ("started", "general", "s1")
    assert (ended["phase"], ended["result"], ended["model_calls"]) == ("completed", "Found 42.", 2)
    asked = [call for call in model.calls if "handed this piece of work" in str(call.body)]
    assert len(asked) == 2
    assert all("heron" not in str(call.body) for call in asked)
    detail = (await aster.http.get(f"/tasks/{begun['child_task_id']}")).json()
    assert (detail["parent_task_id"], detail["turns"][0]["agent"]) == ("t1", "main/general")
    listed = (await aster.http.get("/tasks")).json()["tasks"]
    assert [task["task_id"] for task in listed] == ["t1"]
    of_parent = (await aster.http.get("/tasks", params={"parent": "t1"})).json()["tasks"]
    assert [task["task_id"] for task in of_parent] == [begun["child_task_id"]]


async def test_children_work_in_the_workspace_of_their_parent(aster: Live, model: ModelServer) -> None:
    write = Reply([ToolCall("write_file", {"path": "note.txt", "content": "from the child"}, id="w")])
    model.script(
        [
            Rule(Reply([Text("seen")]), tool="read_file"),
            Rule(Reply([Text("written")]), tool="write_file"),
            Rule(Reply([ToolCall("read_file", {"path": "note.txt"}, id="r")]), tool="spawn_agent"),
            Rule(Reply([spawn("work")]), match="^go", round=0),
            Rule(write, match="^work", round=0),
        ]
    )
    frames = await aster.execute("go")
    assert "from the child" in events(frames, "tool_result")[-1]["output"]
    child = events(frames, "subagent_lifecycle")[0]["child_task_id"]
    undone = (await aster.http.post(f"/tasks/{child}/undo", json={})).json()
    assert [(file["path"], file["action"]) for file in undone["files"]] == [("note.txt", "removed")]


async def test_one_slot_is_enough_for_a_parent_and_its_children(model: ModelServer) -> None:
    both = Reply([spawn("work one", "s1"), spawn("work two", "s2")])
    model.script(
        [
            Rule(Reply([Text("both done")]), tool="spawn_agent"),
            Rule(both, match="^go", round=0),
            Rule(Reply([Text("one")]), match="^work one"),
            Rule(Reply([Text("two")]), match="^work two"),
        ]
    )
    async with live(model, task_slots=1) as engine:
        frames = await engine.execute("go")
    assert [result["output"] for result in events(frames, "tool_result")] == ["one", "two"]
    assert text_of(frames) == "both done"


async def test_a_named_agent_works_with_its_own_prompt_and_tools(aster: Live, model: ModelServer) -> None:
    tried = Reply([ToolCall("bash", {"command": "echo hi"}, id="b")])
    model.script(
        rules(Rule(Reply([Text("no bash")]), tool="bash"), child=tried, call=spawn("work", agent="researcher"))
    )
    frames = await aster.execute("go")
    child = next(call for call in model.calls if "You are a researcher." in str(call.body))
    offered = {tool["function"]["name"] for tool in child.body["tools"]}
    assert "web_search" in offered
    assert not {"bash", "write_file", "spawn_agent"} & offered
    begun = events(frames, "subagent_lifecycle")[0]
    thread = await aster.replay(task_id=begun["child_task_id"], after_seq=0)
    assert events(thread, "tool_result")[0]["error"] == "unknown_tool"
    assert events(thread, "tool_call") == []


async def test_an_unknown_agent_is_an_error_that_lists_those_there_are(aster: Live, model: ModelServer) -> None:
    model.script(rules(child=Reply([Text("never")]), call=spawn("work", agent="plumber")))
    frames = await aster.execute("go")
    [result] = events(frames, "tool_result")
    assert result["error"] == "INVALID_REQUEST"
    assert "researcher" in result["output"]
    assert events(frames, "subagent_lifecycle") == []


async def test_what_is_denied_to_an_agent_is_denied_to_those_that_work_for_it(
    model: ModelServer, tmp_path: Path
) -> None:
    """Not by the tool itself, nor a tool that stands for it, nor code kept as a skill, nor a child's child."""
    tools = tmp_path / "catalog" / "tools"
    tools.mkdir(parents=True)
    tools.joinpath("say.json").write_text(
        '{"name": "say", "description": "Say it.", "input_schema": {"type": "object", "properties": {}},'
        ' "implementation": {"kind": "platform", "ref": "bash", "arguments": {"command": "echo said"}}}'
    )
    ways = [
        ToolCall("bash", {"command": "echo hi"}, id="w1"),
        ToolCall("say", {}, id="w2"),
        ToolCall("use_skill", {"name": "x", "input": {}}, id="w3"),
        spawn("deeper", "w4"),
    ]
    model.script(
        [
            Rule(Reply([Text("deep no")]), match="^deeper", round=1),
            Rule(Reply([ToolCall("bash", {"command": "echo deep"}, id="d1")]), match="^deeper", round=0),
            Rule(Reply([Text("all no")]), match="calls worked"),
            Rule(Reply([Text("end")]), match="^go", tool="spawn_agent"),
            Rule(Reply([spawn("work")]), match="^go", round=0),
            Rule(Reply(ways), match="^work", round=0),
        ]
    )
    async with live(model, catalog_dir=tmp_path / "catalog") as engine:
        body = {"description": "No commands.", "system_prompt": "You run nothing.", "disallowed_tools": ["bash"]}
        assert (await engine.http.put("/agents/quiet", json=body)).status_code == 200
        frames = await engine.execute("go", agent="quiet")
        assert text_of(frames) == "end"
        first = events(frames, "subagent_lifecycle")[0]["child_task_id"]
        child = await engine.replay(task_id=first, after_seq=0)
        second = events(child, "subagent_lifecycle")[0]["child_task_id"]
        grandchild = await engine.replay(task_id=second, after_seq=0)
    wrong = [result.get("error") for result in events(child, "tool_result")]
    assert wrong == ["unknown_tool", "unknown_tool", "unknown_tool", None]
    assert [result["error"] for result in events(grandchild, "tool_result")] == ["unknown_tool"]
    assert all("bash" not in {t["function"]["name"] for t in call.body["tools"]} for call in model.calls)


async def test_a_mode_is_never_wider_than_the_parents(model: ModelServer) -> None:
    write = Reply([ToolCall("write_file", {"path": "x", "content": "y"}, id="w")])
    model.script(rules(Rule(Reply([Text("not allowed")]), tool="write_file"), child=write))
    async with live(model) as engine:
        frames = await engine.execute("go", permission_mode="plan")
        child = await engine.replay(task_id=events(frames, "subagent_lifecycle")[0]["child_task_id"], after_seq=0)
    assert events(child, "tool_result")[0]["error"] == "permission_denied"


async def test_work_is_handed_on_only_so_deep_and_so_often(model: ModelServer) -> None:
    model.script(
        [
            Rule(Reply([Text("done")]), tool="spawn_agent"),
            Rule(Reply([spawn("go deeper")]), match="^go", round=0),
        ]
    )
    async with live(model, subagent_depth=2) as engine:
        frames = await engine.execute("go")
        assert text_of(frames) == "done"
        child = await engine.replay(task_id=events(frames, "subagent_lifecycle")[0]["child_task_id"], after_seq=0)
        deepest = events(child, "subagent_lifecycle")[0]["child_task_id"]
        grandchild = await engine.replay(task_id=deepest, after_seq=0)
    assert events(grandchild, "tool_result")[0]["error"] == "unknown_tool"
    assert events(grandchild, "subagent_lifecycle") == []
    three = Reply([spawn("work", "a"), spawn("work", "b"), spawn("work", "c")])
    model.script(
        [
            Rule(Reply([Text("done")]), match="calls worked"),
            Rule(Reply([Text("done")]), tool="spawn_agent"),
            Rule(three, match="^go", round=0),
            Rule(Reply([Text("ok")]), match="^work"),
        ]
    )
    async with live(model, subagents_per_turn=2) as engine:
        frames = await engine.execute("go")
    assert sorted(str(result.get("error")) for result in events(frames, "tool_result")) == [
        "None",
        "None",
        "PERMISSION_DENIED",
    ]


async def test_a_child_stops_at_its_limit_of_model_calls(model: ModelServer) -> None:
    again = Reply([Text("still looking"), ToolCall("glob", {"pattern": "*"})])
    model.script([*rules(child=again)[:3], Rule(again, match="^work")])
    async with live(model, subagent_max_turns=3) as engine:
        frames = await engine.execute("go")
    ended = events(frames, "subagent_lifecycle")[1]
    assert (ended["model_calls"], ended["stop_reason"]) == (3, "max_turns")
    assert "stopped after 3 model calls" in events(frames, "tool_result")[0]["output"]


async def test_a_childs_question_is_shown_to_whoever_follows_the_parent(aster: Live, model: ModelServer) -> None:
    model.script(rules(Rule(Reply([Text("did it")]), tool="bash"), child=Reply([DANGER])))
    async with aster.executing("go") as stream:
        request = (await stream.until("hitl_request")).data
        assert request["question"].startswith("The sub-agent general asks: May `bash` run?")
        assert (request["depth"], "parent_turn_id" in request) == (1, True)
        pending = (await aster.http.get("/hitl/pending", params={"task_id": "t1"})).json()["pending"]
        assert [item["request_id"] for item in pending] == [request["request_id"]]
        refused = await aster.http.post("/execute", json={"message": "x", "task_id": "t1"})
        assert (refused.status_code, refused.json()["error"]) == (409, "HITL_REQUIRED")
        answered = await aster.http.post("/hitl/respond", json={"task_id": "t1", "answer": "yes"})
        assert answered.json()["status"] == "resumed"
        frames = await stream.rest()
    assert len(events(frames, "hitl_resolved")) == 1
    assert events(frames, "tool_result")[0]["output"] == "did it"
    assert last(frames)["phase"] == "completed"


async def test_a_question_while_nobody_watches_parks_both_and_is_answered_after_a_restart(
    model: ModelServer, tmp_path: Path
) -> None:
    model.script(rules(Rule(Reply([Text("did it")]), tool="bash"), child=Reply([DANGER])))
    brain = tmp_path / "brain.sqlite"
    async with live(model, sqlite_db_path=brain, sandbox="auto") as engine, engine.executing("go") as stream:
        begun = (await stream.until("subagent_lifecycle")).data
        await stream.until("hitl_request")
        await parked(engine, begun["child_task_id"])
    async with live(model, sqlite_db_path=brain, sandbox="auto") as engine:
        assert engine.engine.coordinator.slots[0] == 0
        [asked] = (await engine.http.get("/hitl/pending")).json()["pending"]
        await engine.http.post("/hitl/respond", json={"request_id": asked["request_id"], "answer": "yes"})
        frames = await engine.replay(task_id="t1", after_seq=0)
    assert text_of(frames) == "The child says so."
    assert [result["output"] for result in events(frames, "tool_result")] == ["did it"]


async def test_cancelling_the_parent_stops_its_children(aster: Live, model: ModelServer) -> None:
    model.script(rules(child=Reply([Text("a"), Hold("child"), Text("b")])))
    async with aster.executing("go") as stream:
        begun = (await stream.until("subagent_lifecycle")).data
        await model.wait_held("child")
        cancelled = await aster.http.post("/execute/cancel", json={"task_id": "t1"})
        assert cancelled.status_code == 200
        frames = await stream.rest()
    assert last(frames)["phase"] == "cancelled"
    assert events(frames, "tool_result")[0]["error"] == "cancelled"
    child = (await aster.http.get(f"/tasks/{begun['child_task_id']}")).json()
    assert (child["status"], child["turns"][0]["status"]) == ("idle", "cancelled")


async def test_cancelling_a_child_that_waits_for_a_person_lets_the_parent_go_on(
    aster: Live, model: ModelServer
) -> None:
    model.script(rules(child=Reply([DANGER])))
    async with aster.executing("go") as stream:
        begun = (await stream.until("subagent_lifecycle")).data
        await stream.until("hitl_request")
        await parked(aster, begun["child_task_id"])
        await aster.http.post("/execute/cancel", json={"task_id": begun["child_task_id"]})
        frames = await stream.rest()
    assert events(frames, "tool_result")[0]["error"] == "subagent_cancelled"
    assert last(frames)["phase"] == "completed"
    assert (await aster.http.get("/hitl/pending")).json()["pending"] == []


async def test_an_always_for_the_task_holds_for_the_next_child_and_goes_with_the_task(
    aster: Live, model: ModelServer
) -> None:
    model.script(rules(Rule(Reply([Text("did it")]), tool="bash"), child=Reply([DANGER])))
    async with aster.executing("go") as stream:
        await stream.until("hitl_request")
        await aster.http.post("/hitl/respond", json={"task_id": "t1", "answer": "always task"})
        await stream.rest()
    frames = await aster.execute("go again")
    assert events(frames, "hitl_request") == []
    assert events(frames, "tool_result")[0]["output"] == "did it"
    children = (await aster.http.get("/tasks", params={"parent": "t1"})).json()["tasks"]
    assert (await aster.http.delete("/tasks/t1")).status_code in (200, 204)
    for task in children:
        assert (await aster.http.get(f"/tasks/{task['task_id']}")).status_code == 404


async def test_an_always_for_an_agent_is_for_that_agent_at_that_place(aster: Live, model: ModelServer) -> None:
    model.script(rules(Rule(Reply([Text("did it")]), tool="bash"), child=Reply([DANGER])))
    async with aster.executing("go") as stream:
        await stream.until("hitl_request")
        await aster.http.post("/hitl/respond", json={"task_id": "t1", "answer": "always agent"})
        await stream.rest()
    frames = await aster.execute("go", "t2")
    assert events(frames, "hitl_request") == []
    async with aster.executing("work", "t3") as stream:
        assert (await stream.until("hitl_request")).data["kind"] == "permission"


async def test_the_money_of_children_is_the_parents(model: ModelServer) -> None:
    """A child's spending counts for the budget of its parent's task and turn, and is shown on the parent's thread."""
    cost = Usage(input=200_000)
    model.script(
        [
            Rule(Reply([Text("did it")], usage=cost), tool="glob"),
            Rule(Reply([Text("the end")]), tool="spawn_agent"),
            Rule(Reply([spawn("work")]), match="^go", round=0),
            Rule(Reply([ToolCall("glob", {"pattern": "*"})], usage=cost), match="^work", round=0),
        ]
    )
    for budget in ({"budget_task_usd": 0.55}, {"budget_turn_usd": 0.55}):
        priced = live(model, llm_model="gpt-4o", max_tokens=100, **budget)
        async with priced as engine, engine.executing("go") as stream:
            asked = (await stream.until("hitl_request")).data
            assert (asked["kind"], asked["depth"]) == ("budget", 1)
            await engine.http.post("/hitl/respond", json={"request_id": asked["request_id"], "answer": "yes"})
            ended = await stream.until("subagent_lifecycle", phase="completed")
            assert ended.data["cost_usd"] >= 1.0
            again = (await stream.until("hitl_request")).data
            assert (again["kind"], again.get("depth", 0)) == ("budget", 0)
            assert again["input"]["spent_usd"] >= 1.0


async def test_a_hook_sees_the_end_of_a_sub_agent_and_can_send_it_round_once_more(
    model: ModelServer, tmp_path: Path
) -> None:
    hooks = tmp_path / "hooks.json"
    command = "cat >> payload.json; echo 'name the file too' >&2; exit 2"
    hooks.write_text(json.dumps({"hooks": {"SubagentStop": [{"command": command}]}}))
    model.script(
        rules(Rule(Reply([Text("a.txt")]), match="name the file too", round=0), child=Reply([Text("done")])),
    )
    async with live(model, hooks_path=hooks) as engine:
        frames = await engine.execute("go")
    assert events(frames, "tool_result")[0]["output"] == "a.txt"
    seen = json.loads(tmp_path.joinpath("payload.json").read_text())
    assert (seen["hook_event_name"], seen["agent"], seen["answer"]) == ("SubagentStop", "main/general", "done")
    assert seen["parent_task_id"] == "t1"


async def test_a_denial_of_the_person_holds_for_children_too(aster: Live, model: ModelServer) -> None:
    """Whatever it is for: the task, or the agent that the child works for."""
    model.script(
        rules(
            Rule(Reply([Text("no")]), tool="bash"), child=Reply([ToolCall("bash", {"command": "echo hi"}, id="b")])
        )
    )
    for number, scope in enumerate(({"scope": "task", "task_id": "t0"}, {"scope": "agent"})):
        body = {"tool": "bash", "pattern": "echo*", "behavior": "deny", **scope}
        made = await aster.http.post("/permissions", json=body)
        assert made.status_code < 300, made.text
        frames = await aster.execute("go", f"t{number}")
        child = events(frames, "subagent_lifecycle")[0]["child_task_id"]
        thread = await aster.replay(task_id=child, after_seq=0)
        assert events(thread, "tool_result")[0]["error"] == "permission_denied", scope
