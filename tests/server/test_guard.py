"""What every request goes through before a handler sees it, and every answer after."""

import asyncio
import json
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from aster.testing import ModelServer
from tests.live import Live, live
from tests.server.conftest import KEY

APP = "https://app.example"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def strict(model: ModelServer) -> AsyncIterator[Live]:
    async with live(model, engine_api_key=KEY, max_request_bytes=2000, allowed_origins=APP) as running:
        yield running


class TestRequestId:
    @pytest.mark.parametrize("given", ["abc", "req-1", "a b", "x" * 128])
    async def test_a_fit_one_is_kept(self, engine: Live, given: str) -> None:
        answer = await engine.http.get("/health", headers={"X-Request-ID": given})
        assert answer.headers["x-request-id"] == given

    @pytest.mark.parametrize("given", [b"", b"x" * 129, b"caf\xc3\xa9", b"tab\there"])
    async def test_any_other_is_replaced(self, engine: Live, given: bytes) -> None:
        answer = await engine.http.get("/health", headers=[(b"X-Request-ID", given)])
        assert answer.headers["x-request-id"].startswith("req-")

    async def test_refusals_have_one_too(self, engine: Live) -> None:
        answer = await engine.http.get("/tasks", headers={"X-Engine-Key": "wrong", "X-Request-ID": "mine"})
        assert (answer.status_code, answer.headers["x-request-id"]) == (401, "mine")


class TestBody:
    async def test_a_declared_length_beyond_the_limit_is_refused_unread(self, strict: Live) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(strict.url.rsplit(":", 1)[1]))
        head = f"POST /execute HTTP/1.1\r\nHost: x\r\nX-Engine-Key: {KEY}\r\nContent-Type: application/json\r\n"
        writer.write(f"{head}Content-Length: 2001\r\n\r\n".encode())
        answer = await asyncio.wait_for(reader.readuntil(b"}"), 5)
        assert answer.startswith(b"HTTP/1.1 413")
        assert json.loads(answer.split(b"\r\n\r\n", 1)[1])["error"] == "PAYLOAD_TOO_LARGE"
        writer.close()

    async def test_a_client_that_sends_it_all_still_reads_the_refusal(self, strict: Live) -> None:
        answer = await strict.http.post("/execute", json={"message": "x" * 5_000_000, "task_id": "t"})
        assert (answer.status_code, answer.json()["error"]) == (413, "PAYLOAD_TOO_LARGE")

    async def test_an_undeclared_length_is_weighed_on_the_way(self, strict: Live) -> None:
        async def endless() -> AsyncIterator[bytes]:
            yield b'{"message": "'
            for _ in range(30):
                yield b"x" * 100

        answer = await strict.http.post("/execute", content=endless(), headers={"Content-Type": "application/json"})
        assert (answer.status_code, answer.json()["error"]) == (413, "PAYLOAD_TOO_LARGE")

    async def test_a_body_at_the_limit_passes(self, strict: Live) -> None:
        body = json.dumps({"message": "", "task_id": "t"}).encode().ljust(2000)
        answer = await strict.http.post("/execute", content=body, headers={"Content-Type": "application/json"})
        assert answer.status_code == 422

    @pytest.mark.parametrize(
        "kind", ["text/plain", "application/x-www-form-urlencoded", "", "application/json; charset=latin-1"]
    )
    async def test_a_body_has_to_be_json_by_its_own_account(self, engine: Live, kind: str) -> None:
        headers = {"Content-Type": kind} if kind else {}
        answer = await engine.http.post("/execute", content=b"{}", headers=headers)
        assert (answer.status_code, answer.json()["error"]) == (415, "UNSUPPORTED_MEDIA_TYPE")

    @pytest.mark.parametrize(
        "kind", ["application/json", "Application/JSON; charset=UTF-8", 'application/json;charset="utf-8"']
    )
    async def test_json_may_be_spelled_in_any_way(self, engine: Live, kind: str) -> None:
        answer = await engine.http.post("/execute", content=b"{}", headers={"Content-Type": kind})
        assert answer.status_code == 422


class TestOrigin:
    async def test_a_foreign_page_is_refused_even_with_the_key(self, engine: Live) -> None:
        answer = await engine.http.get("/tasks", headers={"Origin": "https://evil.example"})
        assert (answer.status_code, answer.json()["error"]) == (403, "ORIGIN_REFUSED")
        assert "access-control-allow-origin" not in answer.headers

    async def test_the_engines_own_page_is_served(self, engine: Live) -> None:
        assert (await engine.http.get("/tasks", headers={"Origin": engine.url})).status_code == 200

    async def test_an_allowed_page_may_read_the_answer(self, strict: Live) -> None:
        answer = await strict.http.get("/tasks", headers={"Origin": APP})
        assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (200, APP)
        assert "X-Turn-ID" in answer.headers["access-control-expose-headers"]
        assert answer.headers["vary"] == "Origin"

    async def test_an_allowed_page_may_read_a_refusal_too(self, strict: Live) -> None:
        answer = await strict.http.get("/tasks", headers={"Origin": APP, "X-Engine-Key": "wrong"})
        assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (401, APP)

    async def test_a_browser_may_ask_first_without_a_key(self, strict: Live) -> None:
        asked = {"Origin": APP, "Access-Control-Request-Method": "POST", "X-Engine-Key": ""}
        answer = await strict.http.options("/execute", headers=asked)
        assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (204, APP)
        assert "X-Engine-Key" in answer.headers["access-control-allow-headers"]
        assert "DELETE" in answer.headers["access-control-allow-methods"]

    async def test_a_foreign_page_that_asks_first_is_refused(self, strict: Live) -> None:
        asked = {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
        assert (await strict.http.options("/execute", headers=asked)).status_code == 403

    async def test_answers_are_not_sniffed(self, engine: Live) -> None:
        assert (await engine.http.get("/health")).headers["x-content-type-options"] == "nosniff"
