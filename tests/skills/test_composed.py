"""Composed skills: proposed by the agent, usable once a person approves, each of their calls decided on its own."""

import json
from pathlib import Path
from typing import Any

import pytest

from aster.skills.composed import Composed, Step
from aster.skills.shelf import MOST_COMPOSED
from aster.testing import ModelServer
from tests.asset_directory.server import asking, serving
from tests.live import Live
from tests.skills.calling import call, live, system

STEPS: list[dict[str, Any]] = [
    {"tool": "write_file", "input": {"path": "note.txt", "content": "for $who"}},
    {"tool": "bash", "input": {"command": "cat note.txt"}, "save_as": "said"},
    {"tool": "write_file", "input": {"path": "copy.txt", "content": "[${said}] $100"}},
]


async def propose(engine: Live, model: ModelServer, **changes: Any) -> dict[str, Any]:
    usual = {"name": "note", "description": "Notes.", "parameters": ["who"], "steps": STEPS}
    return await call(engine, model, "compose_skill", **{**usual, **changes})


async def use(engine: Live, model: ModelServer, name: str = "note", **given: Any) -> dict[str, Any]:
    return await call(engine, model, "use_skill", name=name, input=given)


async def test_it_is_hidden_until_a_person_approves_it_and_again_after_a_change(tmp_path: Path) -> None:
    async with ModelServer() as model, live(model, allowed_roots=str(tmp_path)) as engine:
        assert (await engine.http.post("/skills/note/approve")).status_code == 404
        assert "Proposed note" in (await propose(engine, model))["output"]
        assert (await use(engine, model, who="Ann"))["error"] == "unknown_skill"
        assert "- note" not in system(model)
        approved = await engine.http.post("/skills/note/approve")
        assert approved.json()["composed"]["status"] == "approved"
        assert [step["tool"] for step in approved.json()["composed"]["steps"]] == [
            "write_file",
            "bash",
            "write_file",
        ]
        used = await use(engine, model, who="Ann; rm -rf $HOME `id`")
        assert used.get("error") is None, used
        assert '- note: "Notes."' in system(model)
        assert (tmp_path / "copy.txt").read_text() == "[for Ann; rm -rf $HOME `id`] $100"
        assert "its parameters, all texts, are who" in (await use(engine, model, whom="x"))["output"]
        await propose(engine, model)
        assert (await use(engine, model, who="Ann"))["error"] == "unknown_skill"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"name": "../x"}, "identifier"),
        ({"name": "bash"}, "identifier"),
        (
            {"steps": [{"tool": "use_skill", "input": {"name": "note", "input": {}}}]},
            "no tool that a skill may call",
        ),
        ({"steps": [{"tool": "note", "input": {}}]}, "no tool that a skill may call"),
        ({"steps": [{"tool": "ask_user", "input": {"question": "?"}}]}, "no tool that a skill may call"),
        ({"steps": [{"tool": "glob", "input": {"pattern": ["$later"]}}, STEPS[1]]}, "$later is neither"),
        ({"steps": [{"tool": "bash", "input": {"command": "echo $who"}}]}, "a command takes no values"),
        ({"steps": [{**STEPS[1], "save_as": "who"}]}, "not taken"),
        ({"steps": [{**STEPS[1], "save_as": "a b"}]}, "identifier"),
        ({"parameters": ["a-b"]}, "parameters must be identifiers"),
        (
            {"steps": [STEPS[1], {**STEPS[2], "input": {"content": "$said"}}], "mode": "parallel"},
            "$said is neither",
        ),
        ({"steps": [{**STEPS[0], "when": {"value": "$said", "equals": "x"}}]}, "$said is neither"),
        ({"steps": [{**STEPS[0], "when": {"value": "$who"}}]}, "exactly one of"),
        ({"steps": [{**STEPS[0], "when": {"value": "$who", "equals": "a", "lacks": "b"}}]}, "exactly one of"),
    ],
)
async def test_what_cannot_be_run_is_not_proposed(changes: dict[str, Any], said: str) -> None:
    async with ModelServer() as model, live(model) as engine:
        refused = await propose(engine, model, **changes)
        assert refused["error"] == "invalid_input"
        assert said in refused["output"]
        names = [one["origin"] for one in (await engine.http.get("/skills")).json()["skills"]]
        assert "composed" not in names


async def approved(engine: Live, model: ModelServer, steps: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    """What a skill of these steps comes to, once it may be used."""
    await propose(engine, model, parameters=[], steps=steps, **more)
    assert (await engine.http.post("/skills/note/approve")).status_code == 200
    return await use(engine, model)


async def test_an_optional_failure_is_tolerated_and_a_required_one_ends_it(tmp_path: Path) -> None:
    failing: dict[str, Any] = {"tool": "bash", "input": {"command": "exit 3"}}
    last: dict[str, Any] = {"tool": "write_file", "input": {"path": "end.txt", "content": "x"}}
    async with ModelServer() as model, live(model, allowed_roots=str(tmp_path)) as engine:
        ended = await approved(engine, model, [failing, last])
        assert (ended["error"], (tmp_path / "end.txt").exists()) == ("exit_status", False)
        assert "ended at step 1 of 2" in ended["output"]
        went_on = await approved(engine, model, [{**failing, "optional": True}, last])
        assert (went_on.get("error"), (tmp_path / "end.txt").exists()) == (None, True)


async def test_a_step_is_made_when_its_condition_holds(tmp_path: Path) -> None:
    def write(path: str, **when: str) -> dict[str, Any]:
        return {"tool": "write_file", "input": {"path": path, "content": "x"}, "when": {"value": "$said", **when}}

    steps: list[dict[str, Any]] = [
        {"tool": "bash", "input": {"command": "exit 3"}, "save_as": "broken", "optional": True},
        {"tool": "bash", "input": {"command": "echo found it"}, "save_as": "said"},
        write("contains", contains="found"),
        write("lacks", lacks="found"),
        write("equals", equals="found"),
        write("differs", differs="found"),
        {**write("failed"), "when": {"value": "${broken}", "equals": ""}},
    ]
    async with ModelServer() as model, live(model, allowed_roots=str(tmp_path)) as engine:
        done = await approved(engine, model, steps)
        assert done.get("error") is None, done
        assert {path.name for path in tmp_path.iterdir()} == {"contains", "differs", "failed"}
        assert "Step 4, write_file: not made, by its condition" in done["output"]
        shown = (await engine.http.get("/skills/note")).json()["composed"]
        assert shown["steps"][2]["when"] == {"value": "$said", "contains": "found"}
        assert (shown["uses"], shown["mode"]) == (1, "sequential")


async def test_steps_at_once_run_at_once_and_one_that_fails_is_named(tmp_path: Path) -> None:
    def meet(own: str, other: str) -> dict[str, Any]:
        wait = f"for i in $(seq 400); do [ -e {other} ] && exit 0; sleep 0.02; done; exit 1"
        return {"tool": "bash", "input": {"command": f"touch {own}; {wait}"}}

    failing: dict[str, Any] = {"tool": "bash", "input": {"command": "exit 3"}}
    async with ModelServer() as model, live(model, allowed_roots=str(tmp_path)) as engine:
        steps = [meet("a", "b"), meet("b", "a")]
        met = await approved(engine, model, steps, mode="parallel")
        assert met.get("error") is None, met
        ended = await approved(engine, model, [failing, *steps, {**failing, "optional": True}], mode="parallel")
        assert (ended["error"], ended["data"]) == ("exit_status", {"step": 1})
        assert "the others were done" in ended["output"]


async def test_what_is_proposed_makes_room_among_what_nobody_approved() -> None:
    """The least used of the others goes; what a person approved is never given up for a proposal."""
    step: dict[str, Any] = {"tool": "glob", "input": {"pattern": "*"}}
    async with ModelServer() as model, live(model) as engine:
        shelf = engine.engine.skills
        for number in range(MOST_COMPOSED):
            composed = Composed(parameters=(), steps=(Step(**step),))
            await shelf.propose("default", f"old_{number:02}", "x", composed)
        await engine.http.post("/skills/old_00/approve")
        assert (await propose(engine, model, parameters=[], steps=[step])).get("error") is None
        names = {one["name"] for one in (await engine.http.get("/skills")).json()["skills"]}
        assert {"old_00", "note", "old_02"} <= names
        assert "old_01" not in names
        for number in range(2, MOST_COMPOSED):
            await shelf.approve("default", f"old_{number:02}")
        await engine.http.post("/skills/note/approve")
        refused = await propose(engine, model, name="more", parameters=[], steps=[step])
        assert "50 approved composed skills; delete some" in refused["output"]


async def test_each_call_is_decided_and_nobody_is_asked(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "kept").write_text("x")
    rules = tmp_path / "rules.json"
    rules.write_text(json.dumps({"rules": [{"behavior": "deny", "tool": "write_file", "pattern": "*"}]}))
    root = tmp_path / "data"
    async with (
        ModelServer() as model,
        live(model, allowed_roots=str(root), permission_rules_path=rules) as engine,
    ):
        denied = await approved(engine, model, [{"tool": "write_file", "input": {"path": "a", "content": "x"}}])
        assert (denied["error"], (root / "a").exists()) == ("permission_denied", False)
        asked = await approved(engine, model, [{"tool": "bash", "input": {"command": f"rm -rf {root}/*"}}])
        assert (asked["error"], (root / "kept").exists()) == ("permission_denied", True)
        assert "call `bash` yourself" in asked["output"]


async def test_a_step_whose_server_asks_a_person_is_given_up_and_nothing_is_done_twice(tmp_path: Path) -> None:
    (tmp_path / "catalog" / "mcp").mkdir(parents=True)
    (tmp_path / "catalog" / "tools").mkdir()
    (tmp_path / "root").mkdir()
    implementation = {"kind": "mcp", "ref": {"server": "art", "action": "paint"}}
    declared = {
        "name": "paint",
        "description": "Paints.",
        "input_schema": {"type": "object", "properties": {}},
        "implementation": implementation,
    }
    (tmp_path / "catalog" / "tools" / "paint.json").write_text(json.dumps(declared))
    steps: list[dict[str, Any]] = [
        {"tool": "bash", "input": {"command": "echo once >> done.txt"}},
        {"tool": "paint", "input": {}},
    ]
    async with ModelServer() as model, serving(asking()) as url:
        server = {"url": url, "policy": {"*": "allow"}}
        (tmp_path / "catalog" / "mcp" / "art.json").write_text(json.dumps(server))
        settings: dict[str, Any] = {"catalog_dir": tmp_path / "catalog", "allowed_roots": str(tmp_path / "root")}
        async with live(model, **settings) as engine:
            connected = await engine.http.post("/assets/connect", json={"server_name": "art"})
            assert connected.status_code == 200
            refused = await approved(engine, model, steps)
            assert (refused["error"], refused["data"]) == ("permission_denied", {"step": 2})
            assert "The server asks a person" in refused["output"]
            assert (tmp_path / "root" / "done.txt").read_text() == "once\n"
            assert (await engine.http.get("/hitl/pending")).json()["pending"] == []
            [held] = (await engine.engine.connectors.directory.look_up("default")).held.values()
            assert held.link is not None
            assert held.link.exchanges == {}


async def test_failures_in_a_row_degrade_it_then_retire_it_and_approval_forgives(tmp_path: Path) -> None:
    steps: list[dict[str, Any]] = [{"tool": "read_file", "input": {"path": "$path"}}]
    async with ModelServer() as model, live(model, allowed_roots=str(tmp_path)) as engine:
        (tmp_path / "there").write_text("x")
        await propose(engine, model, name="look", parameters=["path"], steps=steps)
        await engine.http.post("/skills/look/approve")

        async def stands() -> tuple[str, int, int]:
            shown = (await engine.http.get("/skills/look")).json()["composed"]
            return shown["status"], shown["failures"], shown["uses"]

        for _ in range(2):
            assert (await use(engine, model, "look", path="gone")).get("error")
        assert await stands() == ("approved", 2, 2)
        assert (await use(engine, model, "look", path="there")).get("error") is None
        assert await stands() == ("approved", 0, 3)
        assert (await use(engine, model, "look", wrong="there"))["error"] == "invalid_input"
        assert await stands() == ("approved", 0, 3)
        for _ in range(2):
            await use(engine, model, "look", path="gone")
        assert "is degraded" in (await use(engine, model, "look", path="gone"))["output"]
        assert await stands() == ("degraded", 3, 6)
        await engine.execute("hi", "other")
        assert "- look (failed lately: mend it with `compose_skill`)" in system(model)
        for _ in range(3):
            await use(engine, model, "look", path="gone")
        assert await stands() == ("retired", 6, 9)
        assert (await use(engine, model, "look", path="there"))["error"] == "unknown_skill"
        await engine.execute("hi", "other")
        assert "- look" not in system(model)
        await engine.http.post("/skills/look/approve")
        assert await stands() == ("approved", 0, 9)
        assert (await use(engine, model, "look", path="there")).get("error") is None
