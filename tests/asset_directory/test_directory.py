"""Servers connected over HTTP and as programs, and their tools called by the agent."""

import asyncio
import gc
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from aster.asset_directory.link import Link
from aster.server import keys
from aster.testing import ModelServer, Reply, Text, ToolCall
from tests.asset_directory.server import asking, made, serving
from tests.engine_core.frames import events
from tests.live import Live, live

Catalog = Callable[..., Path]
ALLOWED = {"policy": {"*": "allow"}}


async def connect(aster: Live, name: str, **body: Any) -> dict[str, Any]:
    response = await aster.http.post("/assets/connect", json={"server_name": name, **body})
    assert response.status_code == 200, response.text
    return response.json()


def calls(*wanted: tuple[str, dict[str, Any]]) -> list[Reply]:
    made = [Reply([ToolCall(name, given, id=f"c{at}")]) for at, (name, given) in enumerate(wanted)]
    return [*made, Reply([Text("done")])]


async def test_a_connected_servers_tools_are_called_by_the_agent(model: ModelServer, catalog: Catalog) -> None:
    async with (
        serving(made()) as url,
        live(model, catalog_dir=catalog(fix={"url": url, **ALLOWED, "display_name": "Fixture"})) as aster,
    ):
        listed = (await aster.http.get("/assets/servers")).json()
        assert [(one["server_name"], one["status"], one["auth_method"]) for one in listed] == [
            ("fix", "available", "none")
        ]
        connection = await connect(aster, "fix")
        assert connection["status"] == "connected"
        assert connection["ref_id"].startswith("conn-")
        model.enqueue(
            *calls(
                ("fix.add", {"a": 2, "b": 3}),
                ("fix.fail", {}),
                ("fix.slow", {}),
                ("fix.read_resource", {"uri": "note://one"}),
                ("fix.get_prompt", {"name": "greet", "arguments": {"name": "Ann"}}),
                ("fix.add", {"a": "two"}),
            )
        )
        frames = await aster.execute("go")
        results = events(frames, "tool_result")
        assert [result["output"] for result in results[:1]] == ["5"]
        assert results[1]["error"] == "tool_failed"
        assert "nothing works here" in results[1]["output"]
        assert results[2]["output"] == "done slowly"
        assert "the note says hello" in results[3]["output"]
        assert "Say hello to Ann." in results[4]["output"]
        assert results[5]["error"] == "invalid_input"
        said = "".join(one["text"] for one in events(frames, "tool_progress"))
        assert said == "1/3 step 1\n2/3 step 2\n3/3 step 3\n"
        offered = [tool["function"]["name"] for tool in model.calls[0].body["tools"]]
        assert {"fix__add", "fix__slow", "fix__read_resource"} <= set(offered)
        tools = (await aster.http.get("/tools")).json()["tools"]
        assert [tool["source"] for tool in tools if tool["definition"]["name"] == "fix.add"] == ["mcp"]


async def test_what_a_connection_offers_is_told_with_what_the_operator_says_of_it(
    model: ModelServer, catalog: Catalog
) -> None:
    fix = {"policy": {"add": "allow", "fail": "deny"}, "auth_method": "static", "asks": ["X-Token"]}
    async with serving(made()) as url, live(model, catalog_dir=catalog(fix={"url": url, **fix})) as aster:
        assert (await aster.http.get("/assets/servers")).json()[0]["asks"] == ["X-Token"]
        connection = await connect(aster, "fix", credentials={"headers": {"X-Token": "t"}})
        place = f"/assets/connections/{connection['ref_id']}/actions"
        found = {one["action"]: one for one in (await aster.http.get(place)).json()["actions"]}
        assert len(found) == connection["tools"]
        assert {name: found[name]["behavior"] for name in ("add", "fail", "echo")} == {
            "add": "allow",
            "fail": "deny",
            "echo": "ask",
        }
        assert (found["add"]["name"], found["add"]["description"]) == ("fix.add", "Adds two numbers.")
        assert (found["read_resource"]["kind"], found["get_prompt"]["kind"]) == ("resource", "prompt")


async def test_what_a_server_has_to_read_is_listed_one_by_one(model: ModelServer, catalog: Catalog) -> None:
    async with serving(made()) as url, live(model, catalog_dir=catalog(fix={"url": url})) as aster:
        connection = await connect(aster, "fix")
        place = f"/assets/connections/{connection['ref_id']}/contents"
        found = {one["address"]: one for one in (await aster.http.get(place)).json()["contents"]}
        assert found["note://one"]["kind"] == "resource"
        assert [one["kind"] for one in found.values()].count("prompt") == 1
        assert (await aster.http.get("/assets/connections/never/contents")).status_code == 404


async def test_tools_come_with_a_connection_and_go_with_it(model: ModelServer, catalog: Catalog) -> None:
    async with serving(made()) as url, live(model, catalog_dir=catalog(fix={"url": url, **ALLOWED})) as aster:
        model.enqueue(*calls(("fix.add", {"a": 1, "b": 1})))
        frames = await aster.execute("go", "t1")
        assert events(frames, "tool_result")[0]["error"] == "MCP_CONNECTION_FAILED"
        connection = await connect(aster, "fix")
        model.enqueue(*calls(("fix.add", {"a": 1, "b": 1})))
        assert events(await aster.execute("go", "t2"), "tool_result")[0]["output"] == "2"
        gone = await aster.http.delete(f"/assets/connections/{connection['ref_id']}")
        assert gone.json()["status"] == "disconnected"
        assert (await aster.http.get("/assets/connections")).json() == []
        model.enqueue(*calls(("fix.add", {"a": 1, "b": 1})))
        frames = await aster.execute("go", "t3")
        assert events(frames, "tool_result")[0]["error"] == "MCP_CONNECTION_FAILED"
        again = await aster.http.delete(f"/assets/connections/{connection['ref_id']}")
        assert again.status_code == 404


async def test_a_connection_is_its_users_alone(model: ModelServer, catalog: Catalog, tmp_path: Path) -> None:
    brain = tmp_path / "brain.sqlite"
    ada, bob = ({"X-Engine-Key": keys.create(brain, who, who).key} for who in ("ada", "bob"))
    async with (
        serving(made()) as url,
        live(model, catalog_dir=catalog(fix={"url": url, **ALLOWED}), sqlite_db_path=brain) as aster,
    ):
        made_by = await aster.http.post("/assets/connect", json={"server_name": "fix"}, headers=ada)
        ref_id = made_by.json()["ref_id"]
        assert (await aster.http.get("/assets/connections", headers=bob)).json() == []
        assert (await aster.http.get(f"/assets/connections/{ref_id}/actions", headers=bob)).status_code == 404
        assert (await aster.http.delete(f"/assets/connections/{ref_id}", headers=bob)).status_code == 404
        tools = {
            who: [tool["source"] for tool in (await aster.http.get("/tools", headers=key)).json()["tools"]]
            for who, key in (("ada", ada), ("bob", bob))
        }
        assert ("mcp" in tools["ada"], "mcp" in tools["bob"]) == (True, False)
        model.enqueue(*calls(("fix.add", {"a": 1, "b": 1})))
        frames = await aster.execute("go", key=bob["X-Engine-Key"])
        assert events(frames, "tool_result")[0]["error"] == "MCP_CONNECTION_FAILED"


async def test_a_connection_survives_a_restart(model: ModelServer, catalog: Catalog, tmp_path: Path) -> None:
    async with serving(made()) as url:
        settings = {
            "catalog_dir": catalog(fix={"url": url, **ALLOWED}),
            "sqlite_db_path": tmp_path / "brain.sqlite",
        }
        async with live(model, **settings) as aster:
            await connect(aster, "fix")
        async with live(model, **settings) as aster:
            assert [one["status"] for one in (await aster.http.get("/assets/connections")).json()] == ["connected"]
            model.enqueue(*calls(("fix.add", {"a": 4, "b": 1})))
            frames = await aster.execute("go", "t2")
            assert events(frames, "tool_result")[0]["output"] == "5"
            assert events(frames, "asset_state")[0]["status"] == "connected"


async def test_a_tool_of_the_catalog_stands_for_an_action(model: ModelServer, catalog: Catalog) -> None:
    async with serving(made()) as url:
        place = catalog(fix={"url": url, **ALLOWED})
        (place / "tools").mkdir()
        tool = {
            "name": "add_two",
            "description": "Adds two.",
            "input_schema": {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
            "implementation": {"kind": "mcp", "ref": {"server": "fix", "action": "add"}, "arguments": {"b": 2}},
        }
        (place / "tools" / "add_two.json").write_text(json.dumps(tool))
        async with live(model, catalog_dir=place) as aster:
            model.enqueue(*calls(("add_two", {"a": 1})))
            frames = await aster.execute("go", "t1")
            assert events(frames, "tool_result")[0]["error"] == "MCP_CONNECTION_FAILED"
            await connect(aster, "fix")
            model.enqueue(*calls(("add_two", {"a": 1})))
            assert events(await aster.execute("go", "t2"), "tool_result")[0]["output"] == "3"


async def test_a_tool_of_the_client_takes_no_call_of_a_connected_one(model: ModelServer, catalog: Catalog) -> None:
    own = {"name": "fix__add", "description": "The client's.", "input_schema": {"type": "object"}}
    async with serving(made()) as url, live(model, catalog_dir=catalog(fix={"url": url, **ALLOWED})) as aster:
        await connect(aster, "fix")
        model.enqueue(*calls(("fix__add", {"a": 1})))
        async with aster.executing("go", tools=[own]) as stream:
            asked = (await stream.until("hitl_request")).data
            assert (asked["kind"], asked["tool"]) == ("client_tool", "fix__add")
            await aster.http.post("/hitl/respond", json={"task_id": "t1", "answer": "mine"})
            frames = await stream.rest()
        assert events(frames, "tool_result")[0]["output"] == "mine"
        offered = [tool["function"] for tool in model.calls[0].body["tools"]]
        (shown,) = [tool for tool in offered if tool["name"] == "fix__add"]
        assert shown["description"] == "The client's."
        model.enqueue(*calls(("fix__add", {"a": 1, "b": 1})))
        assert events(await aster.execute("go", "t2"), "tool_result")[0]["output"] == "2"


async def test_a_cancelled_turn_ends_its_call(model: ModelServer, catalog: Catalog) -> None:
    async with serving(made()) as url, live(model, catalog_dir=catalog(fix={"url": url, **ALLOWED})) as aster:
        await connect(aster, "fix")
        model.enqueue(*calls(("fix.forever", {})))
        async with aster.executing("go") as stream:
            await stream.until("tool_call")
            await aster.http.post("/execute/cancel", json={"task_id": "t1"})
            frames = await stream.rest()
        assert frames[-1].data["phase"] == "cancelled"
        (held,) = next(iter(filter(None, aster.engine.assets._users.values()))).held.values()
        assert held.link is not None
        assert not held.link.busy


async def test_a_servers_question_waits_for_a_person_and_the_answer_goes_on(
    model: ModelServer, catalog: Catalog
) -> None:
    async with serving(asking()) as url, live(model, catalog_dir=catalog(art={"url": url, **ALLOWED})) as aster:
        await connect(aster, "art")
        model.enqueue(*calls(("art.paint", {})))
        async with aster.executing("go") as stream:
            asked = (await stream.until("hitl_request")).data
            assert asked["kind"] == "elicitation"
            assert asked["input"]["requested_schema"]["properties"]["colour"]["type"] == "string"
            await stream.until("thread_lifecycle", phase="suspended")
            wrong = {"request_id": asked["request_id"], "answer": '{"colour": 7}'}
            assert (await aster.http.post("/hitl/respond", json=wrong)).status_code == 422
            right = {"request_id": asked["request_id"], "answer": '{"colour": "green"}'}
            assert (await aster.http.post("/hitl/respond", json=right)).status_code == 200
            frames = await stream.rest()
        assert events(frames, "tool_result")[0]["output"] == "painted green"


async def test_a_servers_question_outlives_the_engine(model: ModelServer, catalog: Catalog, tmp_path: Path) -> None:
    async with serving(asking()) as url:
        settings = {
            "catalog_dir": catalog(art={"url": url, **ALLOWED}),
            "sqlite_db_path": tmp_path / "brain.sqlite",
        }
        async with live(model, **settings) as aster:
            await connect(aster, "art")
            model.enqueue(*calls(("art.paint", {})))
            async with aster.executing("go") as stream:
                await stream.until("thread_lifecycle", phase="suspended")
        async with live(model, **settings) as aster:
            asked = (await aster.http.get("/hitl/pending")).json()["pending"][0]
            assert asked["kind"] == "elicitation"
            answer = {"request_id": asked["request_id"], "answer": "blue"}
            assert (await aster.http.post("/hitl/respond", json=answer)).status_code == 200
            async with aster.replaying(task_id="t1", after_seq=0) as stream:
                frames = await stream.rest()
            assert events(frames, "tool_result")[0]["output"] == "painted blue"


async def test_a_server_has_a_model_asked_on_the_turns_account(model: ModelServer, catalog: Catalog) -> None:
    async with serving(asking()) as url, live(model, catalog_dir=catalog(art={"url": url, **ALLOWED})) as aster:
        await connect(aster, "art")
        think, done = calls(("art.think", {}))
        model.enqueue(think, Reply([Text("a sampled word")]), done)
        frames = await aster.execute("go")
        assert events(frames, "tool_result")[0]["output"] == "the model said: a sampled word"
        assert [used["purpose"] for used in events(frames, "usage") if used.get("purpose")] == ["sampling"]
        sampled = model.calls[1].body
        assert "tools" not in sampled
        assert "go" not in [message["content"] for message in sampled["messages"]]


async def test_credentials_are_sent_and_never_shown(
    model: ModelServer, catalog: Catalog, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    secret = "token-that-nobody-may-see-4711"
    seen: list[str] = []
    async with serving(made(), seen) as url:
        settings = {
            "catalog_dir": catalog(fix={"url": url, "auth_method": "static", **ALLOWED}),
            "sqlite_db_path": tmp_path / "brain.sqlite",
        }
        async with live(model, **settings) as aster:
            assert (await aster.http.post("/assets/connect", json={"server_name": "fix"})).status_code == 422
            given = {"headers": {"Authorization": f"Bearer {secret}"}}
            connection = await connect(aster, "fix", credentials=given)
            assert f"Bearer {secret}" in seen
            model.enqueue(*calls(("fix.echo", {"text": f"it is {secret}"})))
            frames = await aster.execute("go")
            assert secret not in str(connection)
            assert secret not in events(frames, "tool_result")[0]["output"]
        assert secret.encode() not in (tmp_path / "brain.sqlite").read_bytes()
        assert (tmp_path / "assets.key").stat().st_mode & 0o777 == 0o600
        assert secret not in caplog.text


async def test_what_a_user_gives_is_hidden_only_from_connecting_to_disconnecting(
    model: ModelServer, catalog: Catalog
) -> None:
    text = "a function of wrong-4711-token and right-4711-token"
    async with (
        serving(made(), accepted={"Bearer right-4711-token"}) as url,
        live(model, catalog_dir=catalog(fix={"url": url, "auth_method": "static"})) as aster,
    ):
        secrets = aster.engine.secrets
        wrong = {"headers": {"Authorization": "Bearer wrong-4711-token"}}
        refused = await aster.http.post("/assets/connect", json={"server_name": "fix", "credentials": wrong})
        assert refused.status_code == 401
        assert secrets.clean(text, "tool") == text
        right = {"headers": {"Authorization": "Bearer right-4711-token", "X-A": "function"}}
        connection = await connect(aster, "fix", credentials=right)
        assert secrets.clean(text, "tool") == "a function of wrong-4711-token and [redacted: credential]"
        await aster.http.delete(f"/assets/connections/{connection['ref_id']}")
        assert secrets.clean(text, "tool") == text
        right["headers"]["X-A"] = "x" * 8001
        refused = await aster.http.post("/assets/connect", json={"server_name": "fix", "credentials": right})
        assert (refused.status_code, "8000" in refused.text) == (422, True)


def open_links() -> int:
    gc.collect()
    return sum(isinstance(one, Link) and one.alive for one in gc.get_objects())


async def test_of_connects_at_once_one_session_stays(model: ModelServer, catalog: Catalog) -> None:
    async with serving(made()) as url, live(model, catalog_dir=catalog(fix={"url": url})) as aster:
        connections = await asyncio.gather(*(connect(aster, "fix") for _ in range(6)))
        assert len({connection["ref_id"] for connection in connections}) == 1
        assert open_links() == 1
        gone = [aster.http.delete(f"/assets/connections/{connections[0]['ref_id']}") for _ in range(2)]
        assert sorted([one.status_code for one in await asyncio.gather(*gone)]) == [200, 404]
        assert open_links() == 0


async def test_a_connection_that_cannot_be_kept_is_closed(
    model: ModelServer, catalog: Catalog, tmp_path: Path
) -> None:
    brain = tmp_path / "brain.sqlite"
    async with (
        serving(made()) as url,
        live(model, catalog_dir=catalog(fix={"url": url}), sqlite_db_path=brain) as aster,
    ):
        with closing(sqlite3.connect(brain)) as db:
            db.execute("CREATE TRIGGER full BEFORE INSERT ON connections BEGIN SELECT RAISE(ABORT, 'full'); END")
        response = await aster.http.post("/assets/connect", json={"server_name": "fix"})
        assert response.status_code >= 500
        assert open_links() == 0


async def test_a_users_server_is_not_used_once_the_operator_allows_none(
    model: ModelServer, catalog: Catalog, tmp_path: Path
) -> None:
    async with serving(made()) as url:
        settings = {
            "catalog_dir": catalog(),
            "sqlite_db_path": tmp_path / "brain.sqlite",
            "fetch_allowed_private": "127.0.0.1",
        }
        async with live(model, **settings, mcp_user_servers=True) as aster:
            await connect(aster, "mine", server_config={"url": url})
            assert len((await aster.http.get("/assets/servers")).json()) == 1
        async with live(model, **settings) as aster:
            assert (await aster.http.get("/assets/servers")).json() == []
            assert (await aster.http.get("/assets/connections")).json() == []
            model.enqueue(*calls(("mine.add", {"a": 1, "b": 1})))
            frames = await aster.execute("go")
            assert events(frames, "tool_result")[0]["error"] == "unknown_tool"


async def test_what_cannot_be_connected_is_refused_with_a_reason(model: ModelServer, catalog: Catalog) -> None:
    servers = catalog(
        log={"url": "http://127.0.0.1:9/mcp", "auth_method": "oauth"},
        off={"url": "http://127.0.0.1:9/"},
        run={"transport": "stdio", "command": ["true"], "auth_method": "static", "asks": ["TOKEN"]},
        web={"url": "http://127.0.0.1:9/", "auth_method": "static"},
    )
    async with live(model, catalog_dir=servers, mcp_user_servers=True) as aster:
        own = {"url": "http://127.0.0.1:9/mcp"}
        cases = [
            ({"server_name": "nope"}, 404, "no server named"),
            ({"server_name": "log", "credentials": {"headers": {"X-A": "b"}}}, 422, "wants a login"),
            ({"server_name": "log"}, 500, "OAUTH_REDIRECT_BASE_URL"),
            ({"server_name": "run", "credentials": {"environment": {"LD_PRELOAD": "x"}}}, 422, "It takes: TOKEN"),
            ({"server_name": "web", "credentials": {"headers": {"Host": "x"}}}, 422, "does not ask for"),
            ({"server_name": "web", "credentials": {"environment": {"PATH": "x"}}}, 422, "does not ask for"),
            ({"server_name": "off", "credentials": {"headers": {"X-A": "b"}}}, 422, "takes no credentials"),
            ({"server_name": "off"}, 502, "cannot be used"),
            ({"server_name": "mine", "server_config": own}, 502, "not on the public internet"),
            ({"server_name": "off", "server_config": own}, 422, "already"),
            ({"server_name": "mine", "server_config": {"transport": "stdio", "command": ["id"]}}, 422, "operator"),
            ({"server_name": "Mine!", "server_config": own}, 422, "lowercase"),
            ({"server_name": "mine", "server_config": {"what": 1}}, 422, "what"),
            ({"server_name": "mine", "server_config": {**own, "policy": {"*": "allow"}}}, 422, "operator"),
        ]
        for body, status, words in cases:
            response = await aster.http.post("/assets/connect", json=body)
            assert (response.status_code, words in response.text) == (status, True), response.text
    async with live(model, catalog_dir=servers) as aster:
        response = await aster.http.post("/assets/connect", json={"server_name": "mine", "server_config": own})
        assert response.status_code == 403


async def test_a_server_that_offers_something_else_says_so(model: ModelServer, catalog: Catalog) -> None:
    server = made()
    async with serving(server) as url, live(model, catalog_dir=catalog(fix={"url": url, **ALLOWED})) as aster:
        await connect(aster, "fix")
        before = next(iter(filter(None, aster.engine.assets._users.values())))
        version = before.version

        def late() -> str:
            """Came later."""
            return "here now"

        server.add_tool(late)
        model.enqueue(*calls(("fix.announce", {}), ("fix.late", {})))
        frames = await aster.execute("go")
        assert before.version > version
        assert events(frames, "tool_result")[1]["output"] == "here now"


async def test_credentials_that_are_not_accepted_any_more_are_said_to_be_so(
    model: ModelServer, catalog: Catalog
) -> None:
    accepted = {"Bearer first-token-of-many"}
    async with (
        serving(made(), accepted=accepted) as url,
        live(model, catalog_dir=catalog(fix={"url": url, "auth_method": "static", **ALLOWED})) as aster,
    ):
        wrong = {"server_name": "fix", "credentials": {"headers": {"Authorization": "Bearer wrong"}}}
        refused = await aster.http.post("/assets/connect", json=wrong)
        assert (refused.status_code, refused.json()["error"]) == (401, "MCP_TOKEN_EXPIRED")
        await connect(aster, "fix", credentials={"headers": {"Authorization": "Bearer first-token-of-many"}})
        accepted.clear()
        accepted.add("Bearer second-token-of-many")
        model.enqueue(*calls(("fix.add", {"a": 1, "b": 1})))
        frames = await aster.execute("go", "t1")
        assert events(frames, "tool_result")[0]["error"] == "MCP_TOKEN_EXPIRED"
        assert (await aster.http.get("/assets/connections")).json()[0]["status"] == "expired"
        model.enqueue(*calls(("fix.add", {"a": 1, "b": 1})))
        frames = await aster.execute("go", "t2")
        assert events(frames, "asset_state")[0]["status"] == "needs_auth"
        await connect(aster, "fix", credentials={"headers": {"Authorization": "Bearer second-token-of-many"}})
        model.enqueue(*calls(("fix.add", {"a": 1, "b": 1})))
        frames = await aster.execute("go", "t3")
        assert events(frames, "tool_result")[0]["output"] == "2"
        assert (await aster.http.get("/assets/connections")).json()[0]["status"] == "connected"


async def test_servers_are_read_again_as_a_whole_or_not_at_all(model: ModelServer, catalog: Catalog) -> None:
    async with serving(made()) as url, live(model, catalog_dir=catalog(fix={"url": url, **ALLOWED})) as aster:
        await connect(aster, "fix")
        place = catalog(fix={"url": url, "policy": {"add": "deny"}}, more={"url": url})
        assert (await aster.http.post("/admin/reload-catalog")).status_code == 200
        assert len((await aster.http.get("/assets/servers")).json()) == 2
        model.enqueue(*calls(("fix.add", {"a": 1, "b": 1})))
        frames = await aster.execute("go", "t1")
        assert events(frames, "tool_result")[0]["error"] == "permission_denied"
        catalog(more={"url": "nonsense"})
        refused = await aster.http.post("/admin/reload-catalog")
        assert "mcp/more.json" in refused.json()["details"]["problems"]
        assert len((await aster.http.get("/assets/servers")).json()) == 2
        (place / "mcp" / "fix.json").unlink()
        catalog(more={"url": url})
        assert (await aster.http.post("/admin/reload-catalog")).status_code == 200
        assert (await aster.http.get("/assets/connections")).json() == []
