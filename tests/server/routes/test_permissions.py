"""Permissions over HTTP: what holds, what would happen, what a rule would have meant, and whose grant is whose."""

from pathlib import Path
from typing import Any

import pytest

from aster.server import keys
from aster.testing import ModelServer, Reply, Text, ToolCall
from tests.live import Live, live
from tests.server.conftest import KEY


async def add(engine: Live, status: int = 200, **body: Any) -> Any:
    answer = await engine.http.post("/permissions", json=body)
    assert answer.status_code == status, answer.text
    return answer.json()


async def judged(engine: Live, command: str, **body: Any) -> Any:
    asked = {"tool": "bash", "input": {"command": command}, **body}
    answer = await engine.http.post("/permissions/test", json=asked)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_a_call_is_thought_through_and_not_run(engine: Live) -> None:
    harmless = await judged(engine, "git status")
    assert (harmless["behavior"], harmless["decided_by"], harmless["offer"]) == ("allow", "judgement", None)
    dangerous = await judged(engine, "rm -rf ../x")
    assert dangerous["behavior"] == "ask"
    assert "not surely below a root" in dangerous["effects"][0]
    assert dangerous["effects"][0] in dangerous["reason"]
    assert dangerous["offer"] == {"tool": "bash", "pattern": "rm -rf ../x"}
    assert (await judged(engine, "touch x", mode="plan"))["decided_by"] == "mode:plan"
    assert (await judged(engine, "touch x", mode="auto"))["behavior"] == "ask"
    body = {"tool": "write_file", "input": {"path": "/etc/x", "content": ""}}
    assert (await engine.http.post("/permissions/test", json=body)).json()["behavior"] == "deny"
    unknown = (await engine.http.post("/permissions/test", json={"tool": "nothing"})).json()
    assert (unknown["behavior"], unknown["decided_by"]) == ("deny", "validation")


async def test_grants_are_given_listed_used_and_revoked(engine: Live) -> None:
    grant = await add(engine, tool="bash", pattern="git push *")
    assert (grant["behavior"], grant["scope"], grant["uses"], grant["expires_at"]) == (
        "allow",
        "everywhere",
        0,
        None,
    )
    allowed = await judged(engine, "git push --force origin main")
    assert (allowed["behavior"], allowed["decided_by"]) == ("allow", f"grant:{grant['grant_id']}")
    assert (await judged(engine, "git push --force && rm -rf /"))["behavior"] == "ask"
    denial = await add(engine, tool="bash", pattern="git push *", behavior="deny", expires_in_seconds=60)
    assert (await judged(engine, "bash -c 'git push --force'", mode="auto"))["behavior"] == "deny"
    listed = (await engine.http.get("/permissions")).json()
    assert [item["grant_id"] for item in listed["grants"]] == [denial["grant_id"], grant["grant_id"]]
    assert (listed["mode"], listed["bypass_allowed"], listed["unattended_policy"]) == ("default", False, "park")
    for made in (grant, denial):
        gone = await engine.http.delete(f"/permissions/{made['grant_id']}")
        assert gone.json() == {"status": "revoked", "grant_id": made["grant_id"]}
    assert (await engine.http.delete(f"/permissions/{grant['grant_id']}")).status_code == 404


async def test_a_plain_allow_of_the_shell_does_not_speak_for_what_is_dangerous(engine: Live) -> None:
    grant = await add(engine, tool="bash")
    assert (await judged(engine, "rm -rf /"))["behavior"] == "ask"
    assert (await judged(engine, "touch x", mode="auto"))["behavior"] == "allow"
    await engine.http.delete(f"/permissions/{grant['grant_id']}")


async def test_a_grant_for_a_task_reaches_no_other(engine: Live, task: str) -> None:
    grant = await add(engine, tool="bash", pattern="chmod *", scope="task", task_id=task)
    assert (await judged(engine, "chmod -R 700 .", task_id=task))["behavior"] == "allow"
    assert (await judged(engine, "chmod -R 700 .", task_id="another"))["behavior"] == "ask"
    await engine.http.delete(f"/permissions/{grant['grant_id']}")


@pytest.mark.parametrize(
    "body",
    [
        {"pattern": "x"},
        {"tool": ""},
        {"tool": "bash", "behavior": "perhaps"},
        {"tool": "bash", "scope": "task"},
        {"tool": "bash", "task_id": "t"},
        {"tool": "bash", "expires_in_seconds": 0},
        {"tool": "bash", "pattern": "x" * 2001},
    ],
)
async def test_what_is_no_grant_is_refused(engine: Live, body: dict[str, Any]) -> None:
    refused = await add(engine, 422, **body)
    assert refused["error"] == "INVALID_REQUEST"


async def test_a_user_sees_and_changes_only_their_own(tmp_path: Path) -> None:
    brain = tmp_path / "brain.sqlite"
    bob = {"X-Engine-Key": keys.create(brain, "phone", "bob").key}
    async with live(sqlite_db_path=brain, engine_api_key=KEY) as engine:
        grant = await add(engine, tool="bash", pattern="git push *")
        assert (await engine.http.get("/permissions", headers=bob)).json()["grants"] == []
        assert (await engine.http.delete(f"/permissions/{grant['grant_id']}", headers=bob)).status_code == 404
        asked = {"tool": "bash", "input": {"command": "git push --force"}}
        theirs = await engine.http.post("/permissions/test", json=asked, headers=bob)
        assert theirs.json()["behavior"] == "ask"
        assert len((await engine.http.get("/permissions")).json()["grants"]) == 1


async def test_a_rule_is_tried_on_what_was_really_called(engine: Live, model: ModelServer, task: str) -> None:
    calls = [ToolCall("bash", {"command": f"chmod -R 70{number} ."}, id=f"c{number}") for number in range(2)]
    look = ToolCall("bash", {"command": "ls"}, id="look")
    model.enqueue(Reply([calls[0]]), Reply([calls[1]]), Reply([look]), Reply([Text("done")]))
    async with engine.executing("go", task) as stream:
        for answer in ("yes", "no"):
            request = (await stream.until("hitl_request")).data
            await engine.http.post("/hitl/respond", json={"request_id": request["request_id"], "answer": answer})
        await stream.rest()
    body = {"tool": "bash", "pattern": "chmod -R *", "behavior": "allow"}
    report = (await engine.http.post("/permissions/backtest", json=body)).json()
    assert (report["matched"], report["changed"], report["complete"]) == (2, 2, True)
    assert report["would"] == {"allow": 2, "ask": 0, "deny": 0}
    assert report["then"] == {"ran": 0, "approved": 1, "denied": 1, "unanswered": 0}
    assert (report["would_allow_denied"], report["would_deny_approved"]) == (1, 0)
    assert {example["call"]["input"]["command"] for example in report["examples"]} == {
        "chmod -R 700 .",
        "chmod -R 701 .",
    }
    harsh = (await engine.http.post("/permissions/backtest", json={"behavior": "deny"})).json()
    assert harsh["matched"] == harsh["calls"] == 3
    assert (harsh["would"]["deny"], harsh["would_deny_approved"]) == (3, 2)
