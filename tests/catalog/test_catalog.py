"""The catalog over HTTP: declared tools are offered, run, judged, reloaded, and never half read."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from aster.brain.sqlite.brain import open_database
from aster.catalog.catalog import MOST_BYTES, Catalog
from aster.contracts.errors import EngineError
from aster.infra.settings import Settings, load
from aster.server.keys import create
from aster.testing import ModelServer, Reply, Text, ToolCall
from aster.utility_directory.platform_registry import platform_tools
from tests.catalog.conftest import Shelf
from tests.engine_core.frames import events
from tests.live import Live, live


async def result(aster: Live, model: ModelServer, tool: str, **given: Any) -> dict[str, Any]:
    model.enqueue(Reply([ToolCall(tool, given)]), Reply([Text("done")]))
    return events(await aster.execute("go"), "tool_result")[0]


def offered(model: ModelServer) -> list[str]:
    """What every model is offered: what is there for whoever wants more comes after it."""
    names = [tool["function"]["name"] for tool in model.calls[-1].body["tools"]]
    assert names[-1] == "open_tools"
    return names[:-1]


async def test_a_declared_tool_is_offered_and_runs(shelf: Shelf, model: ModelServer) -> None:
    shelf.put("git_log")
    async with live(model, catalog_dir=shelf.root) as aster:
        assert (await result(aster, model, "git_log", count=3))["output"] == "log -n 3"
        assert offered(model)[-1] == "git_log"
        wrong = await result(aster, model, "git_log", count="3; reboot")
        assert (wrong["error"], "count: expected integer" in wrong["output"]) == ("invalid_input", True)
        other = await result(aster, model, "git_log", count=3, command="reboot")
        assert (other["error"], "unknown argument: command" in other["output"]) == ("invalid_input", True)


async def test_the_documented_tool_works(shelf: Shelf, model: ModelServer) -> None:
    page = (Path(__file__).parents[2] / "docs" / "catalog.md").read_text()
    shelf.write("git_log", page.split("```json\n", 1)[1].split("```", 1)[0].encode())
    commit = "git -c user.name=a -c user.email=a@b commit -q --allow-empty -m"
    async with live(model, catalog_dir=shelf.root, sandbox="auto") as aster:
        command = f"git init -q 'a b'; cd 'a b'; {commit} one; {commit} two"
        made = await result(aster, model, "bash", command=command)
        assert "error" not in made, made
        assert (await result(aster, model, "git_log", directory="a b", count=1))["output"].endswith(" two")
        assert len((await result(aster, model, "git_log", directory="a b"))["output"].splitlines()) == 2


async def test_its_call_is_judged_as_what_it_does(shelf: Shelf, model: ModelServer) -> None:
    shelf.bash("clear", "rm -rf {place}", "place")
    shelf.bash("look", "cat {place}", "place")
    async with live(model, catalog_dir=shelf.root) as aster:
        model.enqueue(Reply([ToolCall("clear", {"place": "/home"})]), Reply([Text("done")]))
        async with aster.executing("go") as stream:
            prompt = (await stream.until("permission_prompt")).data
            assert (prompt["tool"], prompt["input"]) == ("clear", {"place": "/home"})
            assert prompt["reason"].endswith("It runs: rm -rf /home")
            assert prompt["offer"] == {"tool": "bash", "pattern": "rm -rf /home"}
            await stream.until("thread_lifecycle", phase="suspended")
            await aster.http.post("/hitl/respond", json={"task_id": "t1", "answer": "no"})
            frames = await stream.rest()
        assert events(frames, "tool_result")[0]["error"] == "permission_denied"
        model.enqueue(Reply([ToolCall("look", {"place": "x"})]), Reply([Text("done")]))
        (call,) = events(await aster.execute("go"), "tool_call")
        assert (call["tool"], call["input"], call["effect"]) == ("look", {"place": "x"}, "pure")
        assert (call["as_tool"], call["as_input"]) == ("bash", {"command": "cat x"})


async def test_a_denial_of_the_platforms_tool_holds(shelf: Shelf, model: ModelServer, tmp_path: Path) -> None:
    shelf.bash("fetch", "curl {address}", "address")
    shelf.bash("say", "echo {word}", "word")
    rules = tmp_path / "rules.json"
    rules.write_text(
        json.dumps([{"behavior": "deny", "tool": "bash", "pattern": "curl *"}, {"behavior": "deny", "tool": "say"}])
    )
    async with live(model, catalog_dir=shelf.root, permission_rules_path=rules) as aster:
        assert (await result(aster, model, "fetch", address="x"))["error"] == "permission_denied"
        assert (await result(aster, model, "say", word="x"))["error"] == "permission_denied"
        assert (await result(aster, model, "bash", command="echo x"))["output"] == "x"


async def test_one_that_requires_permission_asks_every_time(shelf: Shelf, model: ModelServer) -> None:
    shelf.bash("deploy", "echo deployed {place}", "place", requires_permission=True)
    async with live(model, catalog_dir=shelf.root) as aster:
        grant = {"tool": "deploy", "pattern": "*", "behavior": "allow", "scope": "everywhere"}
        assert (await aster.http.post("/permissions", json=grant)).status_code < 300
        for _ in range(2):
            model.enqueue(Reply([ToolCall("deploy", {"place": "here"})]), Reply([Text("done")]))
            async with aster.executing("go") as stream:
                request = (await stream.until("hitl_request")).data
                assert request["options"] == ["yes", "no"]
                assert "This tool asks every time. It runs: echo deployed here" in request["reason"]
                await stream.until("thread_lifecycle", phase="suspended")
                await aster.http.post("/hitl/respond", json={"task_id": "t1", "answer": "yes"})
                frames = await stream.rest()
            assert events(frames, "tool_result")[0]["output"] == "deployed here"


async def test_tools_are_listed(shelf: Shelf, model: ModelServer) -> None:
    shelf.put("git_log", requires_permission=True)
    async with live(model, catalog_dir=shelf.root) as aster:
        tools = (await aster.http.get("/tools")).json()["tools"]
    assert tools[0]["definition"]["name"] == "bash"
    assert (tools[0]["source"], tools[0]["requires_permission"]) == ("platform", False)
    assert (tools[-1]["source"], tools[-1]["requires_permission"]) == ("catalog", True)
    assert tools[-1]["definition"]["input_schema"]["properties"] == {"count": {"type": "integer", "minimum": 1}}


async def test_it_is_reloaded_as_a_whole_or_not_at_all(shelf: Shelf, model: ModelServer) -> None:
    async with live(model, catalog_dir=shelf.root) as aster:
        await aster.execute("hello")
        before = model.calls[-1].body["tools"]
        shelf.put("git_log")
        assert (await result(aster, model, "git_log", count=1))["error"] == "unknown_tool"
        answer = await aster.http.post("/admin/reload-catalog")
        assert (answer.status_code, answer.json()["status"], answer.json()["tools"]) == (
            200,
            "reloaded",
            ["git_log"],
        )
        assert (await result(aster, model, "git_log", count=1))["output"] == "log -n 1"
        assert model.calls[-1].body["tools"][:-2] == before[:-1]

        shelf.put("good")
        shelf.write("broken", b"{")
        shelf.put("odd", name="even")
        refused = await aster.http.post("/admin/reload-catalog")
        assert (refused.status_code, refused.json()["error"]) == (500, "CONFIGURATION_INVALID")
        problems = refused.json()["details"]["problems"]
        assert sorted(problems) == ["tools/broken.json", "tools/odd.json"]
        assert (await result(aster, model, "git_log", count=2))["output"] == "log -n 2"
        assert "good" not in offered(model)

        (shelf.tools / "broken.json").unlink()
        (shelf.tools / "odd.json").unlink()
        (shelf.tools / "git_log.json").unlink()
        assert (await aster.http.post("/admin/reload-catalog")).json()["tools"] == ["good"]


async def test_only_the_operator_reloads(shelf: Shelf, model: ModelServer, tmp_path: Path) -> None:
    brain = tmp_path / "brain.sqlite"
    open_database(brain)
    headers = {"X-Engine-Key": create(brain, "ada", "ada").key}
    given = {"catalog_dir": shelf.root, "sqlite_db_path": brain, "engine_api_key": "the-operators-key"}
    async with live(model, **given) as aster:
        refused = await aster.http.post("/admin/reload-catalog", headers=headers)
        assert (refused.status_code, refused.json()["error"]) == (403, "PERMISSION_DENIED")
        assert (await aster.http.get("/tools", headers=headers)).status_code == 200
        assert (await aster.http.post("/admin/reload-catalog")).status_code == 200


@pytest.fixture
def settings(shelf: Shelf, tmp_path: Path) -> Settings:
    return load({"SQLITE_DB_PATH": str(tmp_path / "data" / "brain.sqlite"), "CATALOG_DIR": str(shelf.root)}, None)


def refusal(settings: Settings) -> str:
    with pytest.raises(EngineError) as refused:
        Catalog(settings, platform_tools()).load()
    return refused.value.message


def test_files_that_are_not_what_they_seem(settings: Settings, shelf: Shelf, tmp_path: Path) -> None:
    outside = shelf.put("outside").rename(tmp_path / "outside.json")
    (shelf.tools / "outside.json").symlink_to(outside)
    shelf.write("huge", b" " * (MOST_BYTES + 1))
    shelf.write("latin", '{"name": "é"}'.encode("latin-1"))
    shelf.write("deep", b'{"name":' + b"[" * 20_000)
    (shelf.tools / "folder.json").mkdir()
    os.mkfifo(shelf.tools / "pipe.json")
    (shelf.tools / "dangling.json").symlink_to("nowhere.json")
    (shelf.tools / "notes.txt").write_text("not read")
    message = refusal(settings)
    for part in (
        "tools/outside.json: it leads out of the catalog",
        "tools/huge.json: it is larger than",
        "tools/latin.json: it is not UTF-8 text",
        "tools/deep.json: ",
        "tools/folder.json: it ",
        "tools/pipe.json: it is not a file",
        "tools/dangling.json: it cannot be read",
    ):
        assert part in message
    assert "notes" not in message


def test_a_link_within_the_catalog_is_followed(settings: Settings, shelf: Shelf) -> None:
    (shelf.root / "..data").mkdir()
    shelf.put("git_log").rename(shelf.root / "..data" / "git_log.json")
    (shelf.tools / "git_log.json").symlink_to(Path("..") / "..data" / "git_log.json")
    assert Catalog(settings, platform_tools()).load().names[-1] == "git_log"


def test_it_must_be_there_and_out_of_reach(settings: Settings, shelf: Shelf, tmp_path: Path) -> None:
    missing = settings.model_copy(update={"catalog_dir": tmp_path / "nothing"})
    assert "there is no such directory" in refusal(missing)
    for root in (shelf.root, shelf.tools, tmp_path):
        assert "where tools can write" in refusal(settings.model_copy(update={"allowed_roots": str(root)}))


def test_names_are_unique_also_without_their_dots(settings: Settings, shelf: Shelf) -> None:
    shelf.put("git.log")
    shelf.put("git__log")
    shelf.put("bash")
    message = refusal(settings)
    assert "there is a tool named 'bash' already" in message
    assert "there is a tool named 'git.log' already" in message


async def test_a_broken_catalog_stops_the_start(shelf: Shelf, model: ModelServer) -> None:
    shelf.write("broken", b"{")
    with pytest.raises(EngineError, match=r"tools/broken\.json"):
        async with live(model, catalog_dir=shelf.root):
            pass


async def test_a_dotted_name_is_offered_without_its_dot_and_known_with_it(shelf: Shelf, model: ModelServer) -> None:
    shelf.put("git.log")
    async with live(model, catalog_dir=shelf.root) as aster:
        shown = await result(aster, model, "git__log", count=2)
        assert (shown["tool"], shown["output"]) == ("git.log", "log -n 2")
        assert offered(model)[-1] == "git__log"
