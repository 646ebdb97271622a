"""Projects through HTTP: making, finding, leaving and deleting them, who sees them, and what a task is told of one."""

import json
from pathlib import Path
from typing import Any

from aster.server import keys
from aster.testing import ModelServer, Reply, Text, ToolCall
from tests.live import live
from tests.work.places import Place
from tests.work.projects.room import Room, room, until


async def test_the_same_title_is_the_same_project_and_an_archived_one_is_taken_up_again(place: Place) -> None:
    async with room(**place.settings) as projects:
        project = await projects.make("Build  a Bridge", "Dig")
        same = await projects.http.post("/projects", json={"title": "build a BRIDGE", "brief": "another"})
        assert (same.status_code, same.json()["project_id"], same.json()["brief"]) == (200, project, "")
        gone = await projects.http.delete(f"/projects/{project}")
        assert gone.json()["status"] == "ARCHIVED"
        assert (await projects.http.get("/projects")).json()["projects"] == []
        archived = await projects.http.get("/projects", params={"status": "ARCHIVED"})
        assert [one["project_id"] for one in archived.json()["projects"]] == [project]
        assert (await projects.refused(project))[0] == "archived"
        back = await projects.http.post("/projects", json={"title": "Build a bridge"})
        assert (back.json()["project_id"], back.json()["status"]) == (project, "ACTIVE")
        assert await projects.states(project) == {"Dig": "pending"}


async def test_a_hard_delete_takes_everything_along_and_the_tasks_stay(place: Place) -> None:
    async with room(**place.settings) as projects:
        project = await projects.make("Bridge", "Dig", "Fill")
        begun = await projects.advance(project)
        await projects.settled(project)
        gone = await projects.http.delete(f"/projects/{project}", params={"hard": "true"})
        assert (gone.status_code, gone.json()["items"]["completed"]) == (200, 1)
        assert (await projects.http.get(f"/projects/{project}")).status_code == 404
        for item in (begun["item_id"],):
            assert (await projects.http.get(f"/work/items/{item}")).status_code == 404
        assert (await projects.http.get(f"/tasks/{begun['task_id']}")).status_code == 200
        for table in ("project_tasks", "project_nodes", "project_artifacts", "project_records", "project_advances"):
            assert place.run(f"SELECT count(*) FROM {table}")[0][0] in (0, "0"), table
        assert (await projects.make("Bridge")) != project


async def test_a_change_with_an_old_version_is_refused_and_a_title_is_given_once(place: Place) -> None:
    async with room(**place.settings) as projects:
        one, other = await projects.make("One"), await projects.make("Other")
        changed = await projects.http.patch(f"/projects/{one}", json={"brief": "b", "notes": "n", "version": 1})
        assert (changed.json()["brief"], changed.json()["notes"], changed.json()["version"]) == ("b", "n", 2)
        stale = await projects.http.patch(f"/projects/{one}", json={"brief": "c", "version": 1})
        assert (stale.status_code, stale.json()["details"]["reason"]) == (409, "stale")
        taken = await projects.http.patch(f"/projects/{other}", json={"title": "ONE"})
        assert (taken.status_code, taken.json()["details"]["reason"]) == (409, "title_taken")


WRONG: list[tuple[str, dict[str, Any]]] = [
    ("", {}),
    ("", {"title": " "}),
    ("", {"title": "a\x07b"}),
    ("", {"title": "x", "budget": {"steps": -1}}),
    ("", {"title": "x", "budget": {"steps": True}}),
    ("/{id}/items", {"items": []}),
    ("/{id}/items", {"items": [{"subject": "a", "name": "a", "blocked_by": ["a"]}]}),
    ("/{id}/artifacts", {"kind": "poem", "content": "x"}),
    ("/{id}/artifacts", {"kind": "note", "content": " "}),
    ("/{id}/events", {"message": "x", "kind": "Not So"}),
    ("/{id}/advance", {"until": "forever"}),
]


async def test_what_is_wrong_is_refused_and_changes_nothing() -> None:
    async with room() as projects:
        project = await projects.make("Bridge")
        for path, body in WRONG:
            answer = await projects.http.post("/projects" + path.format(id=project), json=body)
            assert (answer.status_code, answer.json()["error"]) == (422, "INVALID_REQUEST"), (path, body)
        assert len((await projects.http.get("/projects")).json()["projects"]) == 1
        assert await projects.kinds(project) == ["created"]


async def test_nobody_sees_or_touches_the_projects_of_another(tmp_path: Path) -> None:
    brain = tmp_path / "brain.sqlite"
    other = {"X-Engine-Key": keys.create(brain, "phone", "bob").key}
    async with (
        ModelServer() as model,
        live(model, engine_api_key="operator", sqlite_db_path=brain, database_url=None) as engine,
    ):
        projects = Room(engine, model)
        project = await projects.make("Bridge", "Dig")
        path = f"/projects/{project}"
        asked = [
            await engine.http.get(path, headers=other),
            await engine.http.patch(path, json={"brief": "x"}, headers=other),
            await engine.http.delete(path, params={"hard": "true"}, headers=other),
            *[
                await engine.http.post(f"{path}/{verb}", json=body, headers=other)
                for verb, body in (
                    *(("advance", {}), ("pause", {}), ("resume", {}), ("exit", {"task_id": "t"})),
                    *(("items", {"items": [{"subject": "a"}]}), ("events", {"message": "m"})),
                    ("artifacts", {"kind": "note", "content": "c"}),
                )
            ],
            *[
                await engine.http.get(f"{path}/{part}", headers=other)
                for part in ("items", "advances", "artifacts", "events")
            ],
        ]
        assert [answer.status_code for answer in asked] == [404] * len(asked)
        assert (await engine.http.get("/projects", headers=other)).json()["projects"] == []
        mine = await engine.http.post("/projects", json={"title": "Bridge"}, headers=other)
        assert mine.status_code == 201


async def test_a_task_is_told_of_its_project_once_and_again_when_it_has_changed(place: Place) -> None:
    async with room(**place.settings) as projects:
        await projects.engine.execute("[[text=1]] Hello.", "t1")
        project = await projects.make("Bridge", "Dig", brief="Two carts wide.")
        assert (await projects.post(project, "switch", task_id="nowhere"))[1]["error"] == "TASK_NOT_FOUND"
        assert (await projects.post(project, "switch", task_id="t1"))[1]["tasks"] == ["t1"]
        for _ in range(2):
            await projects.engine.execute("[[text=1]] What now?", "t1")
        first, second = (call.body["messages"] for call in projects.model.calls[-2:])
        assert str(first).count("Two carts wide.") == 1
        assert second[: len(first)] == first
        assert str(second).count("Two carts wide.") == 1
        await projects.add(project, "Fill")
        await projects.engine.execute("[[text=1]] What now?", "t1")
        third = projects.model.calls[-1].body["messages"]
        assert third[: len(second)] == second
        assert "Fill" in str(third[len(second) :])
        await projects.post(project, "exit", task_id="t1")
        await projects.engine.execute("[[text=1]] What now?", "t1")
        assert "works for no project any more" in str(projects.model.calls[-1].body["messages"])
        assert await told(projects, "t1") == ["switched", "exited"]


async def test_who_has_no_project_is_told_nothing_and_offered_nothing(place: Place) -> None:
    async with room(**place.settings) as projects:
        await projects.engine.execute("[[text=1]] Hello.", "t1")
        await projects.make("Bridge")
        await projects.engine.execute("[[text=1]] Hello.", "t2")
        before, after = (_offered(call.body) for call in projects.model.calls)
        assert "manage_projects" not in before
        assert after[: len(before)] == before
        assert "manage_projects" in after


async def test_a_model_manages_projects_and_every_action_is_there(place: Place) -> None:
    async with room(project_tools="on", **place.settings) as projects:

        async def call(action: str, **given: Any) -> dict[str, Any]:
            return await tool(projects, "t1", action=action, **given)

        made = await call("create", title="Bridge", brief="Two carts wide.")
        project = made["data"]["project_id"]
        assert (await call("create", title="BRIDGE"))["data"]["project_id"] == project
        assert "works for no project" in (await call("task_list"))["output"]
        assert "Two carts wide." in (await call("switch", project="bridge"))["output"]
        items = [{"subject": "Dig", "name": "d"}, {"subject": "Fill", "blocked_by": ["d"]}]
        added = await call("task_add", items=items)
        dig, fill = added["data"]["items"]
        await call("task_decompose", item_id=fill, items=[{"subject": "Fetch earth"}])
        assert "Dig" in (await call("task_next"))["output"]
        assert "  work-" in (await call("task_list"))["output"]
        assert "Dig deep" in (await call("task_update", item_id=dig, subject="Dig deep"))["output"]
        await call("artifact_add", kind="url", content="https://example.com/plan", item_id=dig)
        await call("event_log", message="The mayor agrees.")
        assert "The mayor agrees." in (await call("event_log"))["output"]
        assert "[ACTIVE]" in (await call("status"))["output"]
        assert project in (await call("list"))["output"]
        begun = await call("advance")
        await projects.settled(project)
        assert (await projects.states(project))["Dig deep"] == "completed"
        assert begun["data"]["task_id"] in (await projects.get(project))["tasks"]
        assert (await call("update", notes="n", title="Big bridge"))["error"] is None
        assert "Left" in (await call("exit"))["output"]
        assert "ARCHIVED" in (await call("delete", project=project))["output"]
        assert "ACTIVE" in (await call("resume", project=project))["output"]
        assert "`title` is needed" in (await call("create"))["output"]
        kinds = {one["kind"] for one in (await projects.get(project, "artifacts"))["artifacts"]}
        assert kinds == {"url", "note"}


async def test_a_turn_that_began_by_itself_decides_nothing_about_projects(place: Place) -> None:
    async with room(**place.settings) as projects:
        project = await projects.make("Bridge", "Dig")
        wanted = [
            ToolCall("manage_projects", {"action": "advance"}, id="a"),
            ToolCall("manage_projects", {"action": "delete", "project": "Bridge"}, id="d"),
            ToolCall("manage_projects", {"action": "artifact_add", "kind": "note", "content": "kept"}, id="k"),
        ]
        projects.answers["Dig"] = [Reply(wanted), Reply([Text("Done.")])]
        begun = await projects.advance(project)
        await projects.settled(project)
        frames = await projects.engine.replay(task_id=begun["task_id"], after_seq=0)
        got = {frame.data["tool_call_id"]: frame.data for frame in frames if frame.event == "tool_result"}
        assert [got[name].get("error") for name in "adk"] == ["permission_denied", "permission_denied", None]


async def test_a_turn_of_a_project_is_replayed_and_changes_nothing(place: Place) -> None:
    async with room(**place.settings) as projects:
        projects.answers["Paint"] = ["HUMAN_GATE: Which colour?", "It is green."]
        project = await projects.make("Bridge", "Paint", brief="Two carts wide.")
        begun = await projects.advance(project)
        await projects.settled(project)
        await projects.post(project, "resume", answer="green")
        before = await until(lambda: _done(projects, project))
        projects.answers["Paint"] = ["HUMAN_GATE: Which colour?", "It is green."]
        replayed = await projects.http.post(f"/tasks/{begun['task_id']}/replay", json={})
        assert replayed.status_code == 200, replayed.text
        assert replayed.json()["same"], replayed.json()
        assert await projects.get(project) == before
        assert len((await projects.get(project, "artifacts"))["artifacts"]) == 1


async def _done(projects: Room, project: str) -> dict[str, Any] | None:
    found = await projects.get(project)
    return found if found["status"] == "DONE" else None


async def tool(projects: Room, task_id: str, **given: Any) -> dict[str, Any]:
    message = f"[[text=3 tools=1 tool=manage_projects input={json.dumps(given)}]] Do it."
    frames = await projects.engine.execute(message, task_id)
    (result,) = (frame.data for frame in frames if frame.event == "tool_result")
    return {"error": None, **result}


async def told(projects: Room, task_id: str) -> list[str]:
    frames = await projects.engine.replay(task_id=task_id, after_seq=0)
    return [frame.data["action"] for frame in frames if frame.event == "project_update"]


def _offered(body: dict[str, Any]) -> list[str]:
    return [one["function"]["name"] for one in body["tools"]]
