"""Whoever refuses, a client reads the same envelope."""

import asyncio
import json
import sqlite3
from contextlib import closing

import pytest

from aster.testing import ModelServer
from tests.live import Live, live

JSON = {"Content-Type": "application/json"}


async def test_an_unknown_route(engine: Live) -> None:
    answer = await engine.http.get("/nowhere")
    assert answer.status_code == 404
    body = answer.json()
    assert (body["error"], body["retry"]) == ("NOT_FOUND", "never")
    assert "GET /nowhere" in body["message"]


@pytest.mark.parametrize("path", ["/tasks/", "/execute/"])
async def test_a_slash_too_many_is_no_redirect(engine: Live, path: str) -> None:
    assert (await engine.http.get(path)).status_code == 404


async def test_a_method_the_route_does_not_take(engine: Live) -> None:
    answer = await engine.http.put("/execute", content=b"{}", headers=JSON)
    assert (answer.status_code, answer.json()["error"]) == (405, "METHOD_NOT_ALLOWED")
    assert answer.headers["allow"] == "POST"


@pytest.mark.parametrize(
    "body", [b"{", b"nonsense", b'{"a": }', b"\xff\xfe\xfa", b"[" * 100_000, b'{"message": %s}' % (b"1" * 5000)]
)
async def test_a_body_that_cannot_be_read(engine: Live, body: bytes) -> None:
    answer = await engine.http.post("/execute", content=body, headers=JSON)
    assert (answer.status_code, answer.json()["error"]) == (400, "MALFORMED_REQUEST")


@pytest.mark.parametrize(
    ("body", "field"), [(b"[]", "body"), (b'"text"', "body"), (b"null", "body"), (b"", "body")]
)
async def test_a_body_that_is_no_object(engine: Live, body: bytes, field: str) -> None:
    answer = await engine.http.post("/execute", content=body, headers=JSON)
    assert (answer.status_code, answer.json()["error"]) == (422, "INVALID_REQUEST")
    assert answer.json()["details"]["fields"][0]["field"] == field


async def test_every_wrong_field_is_named_with_its_problem(engine: Live) -> None:
    answer = await engine.http.post("/execute", json={"message": 1, "direct": "no"})
    assert answer.status_code == 422
    fields = {item["field"]: item["problem"] for item in answer.json()["details"]["fields"]}
    assert set(fields) == {"message", "task_id", "direct"}
    assert fields["task_id"] == "is missing"
    assert "`task_id` is missing" in answer.json()["message"]


async def test_what_is_empty_is_said_to_be(engine: Live) -> None:
    for route, body, field in (
        ("/projects", {"title": ""}, "title"),
        ("/teams", {"name": "x", "members": []}, "members"),
    ):
        answer = await engine.http.post(route, json=body)
        assert answer.json()["details"]["fields"] == [{"field": field, "problem": "may not be empty"}]


async def test_query_parameters_are_named_too(engine: Live) -> None:
    answer = await engine.http.get("/tasks", params={"limit": "0"})
    assert answer.json()["details"]["fields"][0]["field"] == "limit"


async def test_what_is_no_http_gets_the_envelope(engine: Live) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", int(engine.url.rsplit(":", 1)[1]))
    writer.write(b"HELLO ENGINE\r\n\r\n")
    answer = await asyncio.wait_for(reader.read(), 5)
    assert answer.startswith(b"HTTP/1.1 400")
    assert json.loads(answer.split(b"\r\n\r\n", 1)[1])["error"] == "MALFORMED_REQUEST"
    writer.close()


async def test_what_nobody_foresaw_tells_the_request_id_and_nothing_else(
    model: ModelServer, caplog: pytest.LogCaptureFixture
) -> None:
    async with live(model) as engine:
        with closing(sqlite3.connect(engine.engine.settings.sqlite_db_path)) as vandal:
            vandal.execute("DROP TABLE hitl_requests")
        answer = await engine.http.get("/hitl/pending", headers={"X-Request-ID": "req-vandal"})
        assert answer.status_code == 500
        body = answer.json()
        assert (body["error"], body["retry"]) == ("INTERNAL", "now")
        assert body["details"] == {"request_id": "req-vandal"}
        assert "hitl_requests" not in answer.text
        assert answer.headers["x-request-id"] == "req-vandal"
        assert (await engine.http.get("/health")).status_code == 200
    assert "no such table: hitl_requests" in caplog.text
