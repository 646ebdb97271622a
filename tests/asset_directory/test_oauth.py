"""Servers that want a login, through HTTP: connecting, using, renewing, losing and finding the login again."""

import asyncio
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from cryptography.fernet import Fernet

from aster.asset_directory.held import Held
from aster.asset_directory.oauth.login import Client, Login, Place
from aster.asset_directory.oauth.logins import Returned
from aster.asset_directory.oauth.renewal import Renewal
from aster.asset_directory.vault import Kept, Vault
from aster.brain.assets import ConnectionRow
from aster.brain.sqlite.brain import SqliteBrain
from aster.contracts.assets import ServerConfigPayload
from aster.infra.secrets import Secrets
from aster.infra.settings import Settings
from aster.server import keys
from aster.testing import ModelServer, Reply, Rule, Text, ToolCall
from tests.asset_directory.oauth import SETTINGS, behind_login, come_back, described, logged_in, opened
from tests.asset_directory.server import made
from tests.engine_core.frames import events
from tests.live import Live, Stream, live

Catalog = Callable[..., Path]


def add(model: ModelServer, *calls: tuple[int, int]) -> None:
    wanted = [ToolCall("fix.add", {"a": a, "b": b}, id=f"c{at}") for at, (a, b) in enumerate(calls)]
    model.enqueue(Reply(wanted), Reply([Text("done")]))


async def added(aster: Live, model: ModelServer, task: str) -> str:
    add(model, (2, 3))
    (result,) = events(await aster.execute("go", task), "tool_result")
    return result["output"]


async def suspended(stream: Stream) -> dict[str, Any]:
    """What a person is asked before a turn goes on."""
    asked = (await stream.until("hitl_request")).data
    await stream.until("thread_lifecycle", phase="suspended")
    return asked


def everything(brain: Path) -> bytes:
    """The whole brain, as it lies on the disk."""
    return b"".join(part.read_bytes() for part in brain.parent.glob(f"{brain.name}*"))


async def test_a_person_logs_in_and_the_agent_uses_the_tool(
    model: ModelServer, catalog: Catalog, tmp_path: Path
) -> None:
    brain = tmp_path / "brain.sqlite"
    async with (
        behind_login() as oauth,
        live(model, catalog_dir=catalog(fix=described(oauth)), sqlite_db_path=brain, **SETTINGS) as aster,
    ):
        connection = await logged_in(aster, "fix")
        assert (connection["status"], connection["scopes"]) == ("connected", ["read"])
        assert connection["tools"] > 5
        assert await added(aster, model, "t1") == "5"
        (form,) = oauth.asked
        assert form["resource"] == f"{oauth.url}/mcp"
        again = await aster.http.post("/assets/connect", json={"server_name": "fix"})
        assert (again.json()["status"], again.json()["auth_url"]) == ("connected", None)
        page = await aster.http.get("/tasks/t1/events")
        shown = page.text + (await aster.http.get("/assets/connections")).text
        kept = everything(brain)
        assert [secret for secret in oauth.given_out if secret in shown or secret.encode() in kept] == []
        assert form["code_verifier"].encode() not in kept
        ended = await aster.http.delete(f"/assets/connections/{connection['ref_id']}")
        assert ended.json()["status"] == "disconnected"
        assert len(oauth.revoked) == 2


@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post"])
async def test_a_registered_client_shows_its_secret(model: ModelServer, catalog: Catalog, method: str) -> None:
    async with (
        behind_login(auth_methods=(method,)) as oauth,
        live(model, catalog_dir=catalog(fix=described(oauth)), **SETTINGS) as aster,
    ):
        await logged_in(aster, "fix")
        assert ("client_secret" in oauth.asked[0]) == (method == "client_secret_post")


async def test_the_operators_own_client_is_used(
    model: ModelServer, catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FIX_SECRET", "the operator's secret")
    async with behind_login(
        auth_methods=("client_secret_basic",), clients={"known": "the operator's secret"}
    ) as oauth:
        own = {"client_id": "known", "client_secret": "${FIX_SECRET}", "issuer": oauth.url}
        async with live(model, catalog_dir=catalog(fix=described(oauth, oauth=own)), **SETTINGS) as aster:
            await logged_in(aster, "fix")
            assert oauth.seen["/register"] == 0


async def test_the_operators_secret_is_told_to_nobody_that_a_server_names(
    model: ModelServer, catalog: Catalog
) -> None:
    clients = {"known": "the operator's secret"}
    async with behind_login(clients=clients) as thief, behind_login(clients=clients) as oauth:
        oauth.authorization_servers = (thief.url,)
        own = {"client_id": "known", "client_secret": clients["known"], "issuer": oauth.url}
        settings = {**SETTINGS, "fetch_allowed_private": "127.0.0.1"}
        async with live(model, catalog_dir=catalog(fix=described(oauth, oauth=own)), **settings) as aster:
            await logged_in(aster, "fix")
        assert (thief.seen.total(), len(oauth.asked)) == (0, 1)


async def test_tokens_are_renewed_once_for_all_calls(model: ModelServer, catalog: Catalog) -> None:
    async with (
        behind_login() as oauth,
        live(model, catalog_dir=catalog(fix=described(oauth)), task_slots=20, **SETTINGS) as aster,
    ):
        await logged_in(aster, "fix")
        oauth.expire()
        model.script(
            [Rule(Reply([ToolCall("fix.add", {"a": 2, "b": 3})]), round=0), Rule(Reply([Text("done")]), round=1)]
        )
        turns = await asyncio.gather(*(aster.execute("go", f"t{number}") for number in range(20)))
        assert [events(frames, "tool_result")[0]["output"] for frames in turns] == ["5"] * 20
        assert [form["grant_type"] for form in oauth.asked] == ["authorization_code", "refresh_token"]


async def test_tokens_are_renewed_before_they_end(model: ModelServer, catalog: Catalog) -> None:
    async with (
        behind_login(lifetime=1.0) as oauth,
        live(model, catalog_dir=catalog(fix=described(oauth)), **SETTINGS) as aster,
    ):
        await logged_in(aster, "fix")
        refused = oauth.seen["/mcp"]
        await asyncio.sleep(0.85)
        assert await added(aster, model, "t1") == "5"
        assert [form["grant_type"] for form in oauth.asked] == ["authorization_code", "refresh_token"]
        assert oauth.seen["/mcp"] == refused + 1


async def test_an_authorization_server_that_is_down_is_not_the_end_of_a_login(
    model: ModelServer, catalog: Catalog
) -> None:
    async with (
        behind_login() as oauth,
        live(model, catalog_dir=catalog(fix=described(oauth)), **SETTINGS) as aster,
    ):
        await logged_in(aster, "fix")
        oauth.expire()
        oauth.down = True
        add(model, (2, 3))
        (result,) = events(await aster.execute("go", "t1"), "tool_result")
        assert result["error"] is not None
        assert (await aster.http.get("/assets/connections")).json()[0]["status"] == "connected"
        oauth.down = False
        assert await added(aster, model, "t2") == "5"


@pytest.mark.parametrize("useless", [{"again": True}, {"lifetime": 0.0}], ids=["the old ones", "at their end"])
async def test_tokens_that_are_of_no_use_are_not_fetched_for_ever(
    model: ModelServer, catalog: Catalog, useless: dict[str, Any]
) -> None:
    async with (
        behind_login() as oauth,
        live(model, catalog_dir=catalog(fix=described(oauth)), **SETTINGS) as aster,
    ):
        await logged_in(aster, "fix")
        oauth.expire()
        for name, value in useless.items():
            setattr(oauth, name, value)
        add(model, (2, 3))
        async with asyncio.timeout(20), aster.executing("go", "t1") as stream:
            asked = await suspended(stream)
        assert asked["kind"] == "login"
        assert sum(form["grant_type"] == "refresh_token" for form in oauth.asked) <= 4


async def test_a_lost_login_suspends_the_call_until_there_is_another(model: ModelServer, catalog: Catalog) -> None:
    async with (
        behind_login() as oauth,
        live(model, catalog_dir=catalog(fix=described(oauth)), **SETTINGS) as aster,
    ):
        await logged_in(aster, "fix")
        oauth.withdraw()
        add(model, (2, 3), (4, 5))
        async with aster.executing("go") as stream:
            asked = await suspended(stream)
            assert (asked["kind"], asked["tool"], asked["input"]["server"]) == ("login", "fix.add", "fix")
            assert asked["input"]["url"] in asked["question"]
            (connection,) = (await aster.http.get("/assets/connections")).json()
            assert connection["status"] == "expired"
            assert (await come_back(aster.http, asked["input"]["url"])).status_code == 200
            frames = await stream.rest()
        assert [event["status"] for event in events(frames, "asset_state")] == ["needs_auth"]
        assert [result["output"] for result in events(frames, "tool_result")] == ["5", "9"]
        assert (await aster.http.get("/hitl/pending")).json()["pending"] == []


async def test_a_lost_login_ends_no_other_call(model: ModelServer, catalog: Catalog) -> None:
    server, begun, go = made(), asyncio.Event(), asyncio.Event()

    @server.tool()
    async def lasting() -> str:
        """Takes its time."""
        begun.set()
        await go.wait()
        return "at last"

    async with (
        behind_login(server) as oauth,
        live(model, catalog_dir=catalog(fix=described(oauth)), **SETTINGS) as aster,
    ):
        await logged_in(aster, "fix")
        model.enqueue(Reply([ToolCall("fix.lasting", {}, id="s")]))
        first = asyncio.create_task(aster.execute("go", "t1"))
        await begun.wait()
        oauth.withdraw()
        add(model, (2, 3))
        async with aster.executing("go", "t2") as stream:
            asked = await suspended(stream)
            model.enqueue(Reply([Text("done")]))
            go.set()
            (result,) = events(await first, "tool_result")
            assert result["output"] == "at last"
            assert (await come_back(aster.http, asked["input"]["url"])).status_code == 200
            (result,) = events(await stream.rest(), "tool_result")
            assert result["output"] == "5"


async def test_a_login_that_was_finished_when_the_engine_stopped_counts(
    model: ModelServer, catalog: Catalog, tmp_path: Path
) -> None:
    async with behind_login() as oauth:
        place = {"catalog_dir": catalog(fix=described(oauth)), "sqlite_db_path": tmp_path / "brain.sqlite"}
        async with live(model, **place, **SETTINGS) as aster:
            await logged_in(aster, "fix")
            oauth.withdraw()
            add(model, (2, 3))
            async with aster.executing("go") as stream:
                back = await opened((await suspended(stream))["input"]["url"])
            await aster.engine.assets.desk.finish(Returned(back["state"], back["code"]))
        async with live(model, **place, **SETTINGS) as aster:
            frames = await aster.replay(task_id="t1", after_seq=0)
            assert events(frames, "tool_result")[0]["output"] == "5"


async def test_a_person_may_refuse_to_log_in(model: ModelServer, catalog: Catalog) -> None:
    async with (
        behind_login() as oauth,
        live(model, catalog_dir=catalog(fix=described(oauth)), **SETTINGS) as aster,
    ):
        await logged_in(aster, "fix")
        oauth.withdraw()
        add(model, (2, 3))
        async with aster.executing("go") as stream:
            asked = await suspended(stream)
            unfit = await aster.http.post("/hitl/respond", json={"task_id": "t1", "answer": "maybe"})
            assert unfit.status_code == 422
            await aster.http.post("/hitl/respond", json={"request_id": asked["request_id"], "answer": "no"})
            frames = await stream.rest()
        (result,) = events(frames, "tool_result")
        assert (result["error"], events(frames, "text_delta")[0]["text"][:4]) == ("MCP_TOKEN_EXPIRED", "done")


async def test_a_call_does_not_ask_for_a_login_for_ever(model: ModelServer, catalog: Catalog) -> None:
    async with (
        behind_login() as oauth,
        live(model, catalog_dir=catalog(fix=described(oauth)), **SETTINGS) as aster,
    ):
        await logged_in(aster, "fix")
        oauth.withdraw()
        add(model, (2, 3))
        async with aster.executing("go") as stream:
            for _ in range(3):
                await suspended(stream)
                await aster.http.post("/hitl/respond", json={"task_id": "t1", "answer": "done"})
            frames = await stream.rest()
        assert events(frames, "tool_result")[0]["error"] == "MCP_TOKEN_EXPIRED"


async def test_nobody_is_asked_to_log_in_where_nobody_is(model: ModelServer, catalog: Catalog) -> None:
    async with (
        behind_login() as oauth,
        live(model, catalog_dir=catalog(fix=described(oauth)), unattended_policy="deny", **SETTINGS) as aster,
    ):
        await logged_in(aster, "fix")
        oauth.withdraw()
        add(model, (2, 3))
        frames = await aster.execute("go", "t1", unattended=True)
        assert events(frames, "hitl_request") == []
        assert events(frames, "tool_result")[0]["error"] == "MCP_TOKEN_EXPIRED"


async def test_a_tool_that_needs_more_asks_for_it(model: ModelServer, catalog: Catalog) -> None:
    async with (
        behind_login(needed=frozenset(("write",))) as oauth,
        live(model, catalog_dir=catalog(fix=described(oauth)), **SETTINGS) as aster,
    ):
        assert (await logged_in(aster, "fix"))["scopes"] == ["read"]
        add(model, (2, 3))
        async with aster.executing("go") as stream:
            asked = await suspended(stream)
            assert asked["input"]["scopes"] == ["write"]
            (connection,) = (await aster.http.get("/assets/connections")).json()
            assert connection["status"] == "connected"
            done = await come_back(aster.http, asked["input"]["url"])
            assert done.json()["scopes"] == ["read", "write"]
            frames = await stream.rest()
        assert events(frames, "tool_result")[0]["output"] == "5"


async def test_a_login_that_ends_after_it_was_too_little_has_ended(model: ModelServer, catalog: Catalog) -> None:
    async with (
        behind_login() as oauth,
        live(model, catalog_dir=catalog(fix=described(oauth)), **SETTINGS) as aster,
    ):
        await logged_in(aster, "fix")
        oauth.needed = frozenset(("write",))
        add(model, (2, 3))
        async with aster.executing("go", "t1") as stream:
            asked = await suspended(stream)
            no = {"request_id": asked["request_id"], "answer": "no"}
            assert (await aster.http.post("/hitl/respond", json=no)).status_code == 200
            await stream.rest()
        oauth.needed = frozenset()
        oauth.withdraw()
        add(model, (2, 3))
        async with aster.executing("go", "t2") as stream:
            asked = await suspended(stream)
        assert "has ended" in asked["reason"]
        assert "scopes" not in asked["input"]
        (connection,) = (await aster.http.get("/assets/connections")).json()
        assert connection["status"] == "expired"


async def test_a_new_link_can_be_asked_for(model: ModelServer, catalog: Catalog, tmp_path: Path) -> None:
    brain = tmp_path / "brain.sqlite"
    async with (
        behind_login() as oauth,
        live(model, catalog_dir=catalog(fix=described(oauth)), sqlite_db_path=brain, **SETTINGS) as aster,
    ):
        pending = (await aster.http.post("/assets/connect", json={"server_name": "fix"})).json()
        same = (await aster.http.post("/assets/connect", json={"server_name": "fix"})).json()
        assert same["auth_url"] == pending["auth_url"]
        with closing(sqlite3.connect(brain)) as db:
            db.execute("UPDATE logins SET expires_at = 1")
            db.commit()
        assert (await come_back(aster.http, pending["auth_url"])).status_code == 422
        fresh = await aster.http.post(f"/assets/connections/{pending['ref_id']}/login")
        assert fresh.json()["status"] == "pending_oauth"
        assert (await come_back(aster.http, fresh.json()["auth_url"])).json()["status"] == "connected"
        unknown = await aster.http.post("/assets/connections/conn-none/login")
        assert unknown.status_code == 404


async def test_a_server_that_repeats_what_it_was_told_spoils_no_secret(
    model: ModelServer, catalog: Catalog, tmp_path: Path
) -> None:
    async def telltale(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await send({"type": f"{(await receive())['type']}.complete"})
            await send({"type": f"{(await receive())['type']}.complete"})
            return
        told = next(value.decode() for name, value in scope["headers"] if name == b"authorization")
        body = {"jsonrpc": "2.0", "id": 1, "error": {"code": -1, "message": f"You are {told}"}}
        head = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": 400, "headers": head})
        await send({"type": "http.response.body", "body": json.dumps(body).encode()})

    brain = tmp_path / "brain.sqlite"
    async with behind_login() as oauth:
        oauth.app = telltale
        settings = {**SETTINGS, "catalog_dir": catalog(fix=described(oauth)), "sqlite_db_path": brain}
        async with live(model, **settings) as aster:
            connection = await logged_in(aster, "fix")
            assert connection["status"] == "failed"
            shown = (await aster.http.get("/assets/connections")).text
            kept = everything(brain)
        assert [secret for secret in oauth.given_out if secret in shown or secret.encode() in kept] == []


async def test_a_browser_is_shown_a_page(model: ModelServer, catalog: Catalog) -> None:
    async with (
        behind_login() as oauth,
        live(model, catalog_dir=catalog(fix=described(oauth)), **SETTINGS) as aster,
    ):
        pending = (await aster.http.post("/assets/connect", json={"server_name": "fix"})).json()
        back, browser = await opened(pending["auth_url"]), {"Accept": "text/html"}
        page = await aster.http.get("/assets/oauth/callback", params=back, headers=browser)
        assert (page.status_code, "Logged in" in page.text) == (200, True)
        assert page.headers["referrer-policy"] == "no-referrer"
        again = await aster.http.get("/assets/oauth/callback", params=back, headers=browser)
        assert (again.status_code, "was finished already" in again.text) == (400, True)
        assert back["code"] not in again.text


async def test_a_login_is_its_users_alone(model: ModelServer, catalog: Catalog, tmp_path: Path) -> None:
    brain = tmp_path / "brain.sqlite"
    ada, bob = ({"X-Engine-Key": keys.create(brain, who, who).key} for who in ("ada", "bob"))
    async with (
        behind_login() as oauth,
        live(model, catalog_dir=catalog(fix=described(oauth)), sqlite_db_path=brain, **SETTINGS) as aster,
    ):
        pending = (await aster.http.post("/assets/connect", headers=ada, json={"server_name": "fix"})).json()
        back = await opened(pending["auth_url"])
        stolen = await aster.http.post("/assets/callback", json=back, headers=bob)
        assert (stolen.status_code, stolen.json()["error"]) == (422, "INVALID_REQUEST")
        assert (await aster.http.get("/assets/connections", headers=bob)).json() == []
        done = await aster.http.post("/assets/callback", json=back, headers=ada)
        assert done.json()["status"] == "connected"
        assert (await aster.http.post("/assets/callback", json=back, headers=ada)).status_code == 422
        (of_ada,) = (await aster.http.get("/assets/connections", headers=ada)).json()
        theirs = await aster.http.post(f"/assets/connections/{of_ada['ref_id']}/login", headers=bob)
        assert theirs.status_code == 404
        assert (await aster.http.post("/assets/rotate-key", headers=bob)).status_code == 403


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"state": "forged"}, "unknown"),
        ({"iss": "https://elsewhere.example"}, "another authorization server"),
        ({"iss": None}, "another authorization server"),
        ({"code": "guessed"}, "refuses the code"),
        ({"code": "", "error": "access_denied"}, "did not allow"),
    ],
)
async def test_what_comes_back_must_be_the_answer(
    model: ModelServer, catalog: Catalog, change: dict[str, Any], why: str
) -> None:
    async with behind_login() as oauth:
        oauth.iss = oauth.url
        async with live(model, catalog_dir=catalog(fix=described(oauth)), **SETTINGS) as aster:
            pending = (await aster.http.post("/assets/connect", json={"server_name": "fix"})).json()
            back = {**await opened(pending["auth_url"]), **change}
            given = {name: value for name, value in back.items() if value is not None}
            refused = await aster.http.get("/assets/oauth/callback", params=given)
            assert (refused.status_code, why in refused.json()["message"]) == (422, True), refused.text
            assert (await aster.http.get("/assets/connections")).json()[0]["status"] == "pending_oauth"


@pytest.mark.parametrize(
    ("lie", "why"),
    [
        ({"authorization_servers": ("http://169.254.169.254/latest",)}, "not reached over https"),
        ({"authorization_servers": ("https://127.0.0.1:1",)}, "not on the public internet"),
        ({"authorization_servers": ("https://10.0.0.8",)}, "not on the public internet"),
        ({"authorization_servers": ("https://[v1.a]",)}, "cannot be reached"),
        ({"resource": "https://bank.example/mcp"}, "another resource"),
    ],
)
async def test_a_server_cannot_send_a_login_elsewhere(
    model: ModelServer, catalog: Catalog, lie: dict[str, Any], why: str
) -> None:
    async with (
        behind_login(**lie) as oauth,
        live(model, catalog_dir=catalog(fix=described(oauth)), **SETTINGS) as aster,
    ):
        refused = await aster.http.post("/assets/connect", json={"server_name": "fix"})
        assert (refused.status_code, why in refused.json()["message"]) == (502, True), refused.text
        assert (await aster.http.get("/assets/connections")).json() == []


async def test_a_users_own_server_is_not_on_this_machine(model: ModelServer) -> None:
    async with behind_login() as oauth, live(model, mcp_user_servers=True, **SETTINGS) as aster:
        config = {"url": f"{oauth.url}/mcp", "auth_method": "oauth"}
        refused = await aster.http.post("/assets/connect", json={"server_name": "mine", "server_config": config})
        assert (refused.status_code, "not on the public internet" in refused.text) == (502, True)
        secret = {**config, "oauth": {"client_id": "x", "client_secret": "y"}}
        refused = await aster.http.post("/assets/connect", json={"server_name": "mine", "server_config": secret})
        assert refused.status_code == 422
        assert oauth.seen.total() == 0


async def test_a_users_own_server_has_a_login_too(model: ModelServer) -> None:
    settings = {**SETTINGS, "mcp_user_servers": True, "fetch_allowed_private": "127.0.0.1"}
    async with behind_login() as oauth, live(model, **settings) as aster:
        config = {"url": f"{oauth.url}/mcp", "auth_method": "oauth"}
        asked = {"server_name": "mine", "server_config": config}
        pending = (await aster.http.post("/assets/connect", json=asked)).json()
        done = await come_back(aster.http, pending["auth_url"])
        assert done.json()["status"] == "connected"


async def test_where_logins_come_back_to_has_to_be_known(model: ModelServer, catalog: Catalog) -> None:
    async with behind_login() as oauth, live(model, catalog_dir=catalog(fix=described(oauth))) as aster:
        refused = await aster.http.post("/assets/connect", json={"server_name": "fix"})
        assert "OAUTH_REDIRECT_BASE_URL" in refused.json()["message"]


async def test_the_engine_describes_itself_as_a_client(model: ModelServer) -> None:
    async with live(model, oauth_redirect_base_url="https://aster.example.com/") as aster:
        said = (await aster.http.get("/assets/oauth/client.json", headers={"X-Engine-Key": ""})).json()
        assert said["client_id"] == "https://aster.example.com/assets/oauth/client.json"
        assert said["redirect_uris"] == ["https://aster.example.com/assets/oauth/callback"]


async def test_credentials_go_over_to_a_new_key(model: ModelServer, catalog: Catalog, tmp_path: Path) -> None:
    brain, key_file = tmp_path / "brain.sqlite", tmp_path / "assets.key"
    async with behind_login() as oauth:
        settings = {**SETTINGS, "catalog_dir": catalog(fix=described(oauth)), "sqlite_db_path": brain}
        async with live(model, **settings) as aster:
            await logged_in(aster, "fix")
            old = key_file.read_text().strip()
            rotated = await aster.http.post("/assets/rotate-key")
            assert rotated.json() == {"renewed": 1, "current": 0, "lost": 0}
            new = key_file.read_text().strip()
            assert (old in new, key_file.stat().st_mode & 0o777) == (False, 0o600)
            assert await added(aster, model, "t1") == "5"
            oauth.expire()
            assert await added(aster, model, "t2") == "5"
        newest = Fernet.generate_key().decode()
        async with live(model, ad_encryption_key=f"{newest},{new}", **settings) as aster:
            assert (await aster.http.post("/assets/rotate-key")).json()["renewed"] == 1
            assert (await aster.http.post("/assets/rotate-key")).json() == {"renewed": 0, "current": 1, "lost": 0}
        async with live(model, ad_encryption_key=newest, **settings) as aster:
            assert await added(aster, model, "t3") == "5"
        async with live(model, ad_encryption_key=old, **settings) as aster:
            assert (await aster.http.post("/assets/rotate-key")).json()["lost"] == 1


async def test_a_rotation_that_was_interrupted_is_finished_by_the_next(tmp_path: Path) -> None:
    settings = Settings.model_validate({"sqlite_db_path": tmp_path / "brain.sqlite"})
    vault = Vault(settings, Secrets())
    sealed = vault.seal(Kept(headers={"A": "b"}))
    assert vault.renew()
    again = Vault(settings, Secrets())
    moved = again.relocked(sealed)
    assert moved is not None
    assert (moved == sealed, again.relocked(moved)) == (False, moved)
    assert again.open(sealed) == again.open(moved)
    again.retire()
    assert (again.relocked(sealed), again.open(moved).headers) == (None, {"A": "b"})


async def test_a_new_login_stays_when_the_old_one_is_being_renewed(model: ModelServer, catalog: Catalog) -> None:
    async with (
        behind_login() as oauth,
        live(model, catalog_dir=catalog(fix=described(oauth)), **SETTINGS) as aster,
    ):
        connection = await logged_in(aster, "fix")
        oauth.expire()
        oauth.hold = asyncio.Event()
        calling = asyncio.create_task(added(aster, model, "t1"))
        await oauth.holding.wait()
        link = (await aster.http.post(f"/assets/connections/{connection['ref_id']}/login")).json()["auth_url"]
        assert (await come_back(aster.http, link)).status_code == 200
        oauth.hold.set()
        assert await calling == "5"
        asked = [form["grant_type"] for form in oauth.asked]
        assert asked == ["authorization_code", "refresh_token", "authorization_code"]
        oauth.withdraw(but=oauth.given_out[-2])
        assert await added(aster, model, "t2") == "5"


async def test_two_replicas_renew_once(tmp_path: Path) -> None:
    """Each replica has its own memory of the connection; the brain is what they share."""
    settings = Settings.model_validate({"sqlite_db_path": tmp_path / "brain.sqlite", **SETTINGS})
    brain, vault = SqliteBrain(settings.sqlite_db_path), Vault(settings, Secrets())
    await brain.start()
    async with behind_login(clients={"known": ""}) as oauth:
        place = Place(
            url=f"{oauth.url}/mcp",
            resource=f"{oauth.url}/mcp",
            issuer=oauth.url,
            token_endpoint=f"{oauth.url}/token",
        )
        access, refresh = oauth.issue("known", "read")
        client = Client(client_id="known")
        login = Login(place=place, client=client, access_token=access, refresh_token=refresh, expires_at=1)
        row = ConnectionRow(
            ref_id="conn-1",
            user_id="u",
            server_name="fix",
            status="connected",
            scopes=b"[]",
            created_at=0,
            updated_at=0,
            credentials=vault.seal(Kept(login=login)),
        )
        await brain.put(row)
        server = ServerConfigPayload(server_name="fix", url=f"{oauth.url}/mcp", auth_method="oauth")
        replicas = [(Renewal(settings, brain, vault), Held(row, server, own=False)) for _ in range(4)]
        tokens = await asyncio.gather(*(renewal.token(held) for renewal, held in replicas for _ in range(5)))
        assert (len(set(tokens)), len(oauth.asked)) == (1, 1)
        assert tokens[0] != login.access_token
    await brain.close()
