"""The console: its build is complete, harmless and served to anyone, and nothing beside it is."""

import asyncio
import re
from pathlib import Path

import httpx2
import pytest

from aster.server import console
from aster.testing import ModelServer
from tests.live import Live, live

APP = Path(console.__file__).parent / "app"
FILES = sorted(path.relative_to(APP).as_posix() for path in APP.rglob("*") if path.is_file())
POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "connect-src": "'self'",
    "img-src": "'self' data: blob:",
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
    "require-trusted-types-for": "'script'",
    "trusted-types": "'none'",
}


async def raw(engine: Live, path: str) -> tuple[int, bytes]:
    """The answer to a path exactly as written: clients tidy paths up before they send them."""
    reader, writer = await asyncio.open_connection("127.0.0.1", int(engine.url.rsplit(":", 1)[1]))
    writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
    head, _, body = (await asyncio.wait_for(reader.read(), 5)).partition(b"\r\n\r\n")
    writer.close()
    return int(head.split()[1]), body


async def seen(engine: Live, path: str) -> httpx2.Response:
    """What somebody without a key is answered."""
    async with httpx2.AsyncClient(base_url=engine.url, trust_env=False, follow_redirects=True) as anyone:
        return await anyone.get(path)


class TestServing:
    async def test_every_file_needs_no_key_and_may_reach_nothing_else(self, engine: Live) -> None:
        for name in FILES:
            answer = await seen(engine, f"{console.PATH}/{name}")
            assert answer.status_code == 200, name
            assert answer.content == (APP / name).read_bytes()
            policy = dict(part.split(" ", 1) for part in answer.headers["content-security-policy"].split("; "))
            assert policy == POLICY
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["referrer-policy"] == "no-referrer"
            lasting = name.startswith("assets/")
            assert answer.headers["cache-control"] == (
                "public, max-age=31536000, immutable" if lasting else "no-cache"
            )

    @pytest.mark.parametrize(
        "path", ["", "/", "/chat/t1", "/tasks/a.b%2Fc?seq=7", "/memory", "/chat/%3Cscript%3E", "/chat/report.pdf"]
    )
    async def test_every_place_inside_it_is_the_page(self, engine: Live, path: str) -> None:
        answer = await seen(engine, console.PATH + path)
        assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
        assert answer.content == (APP / console.PAGE).read_bytes()
        assert answer.headers["cache-control"] == "no-cache"

    async def test_the_root_leads_to_it(self, engine: Live) -> None:
        answer = await seen(engine, "/")
        assert (answer.status_code, answer.url.path) == (200, "/console")
        assert answer.history[0].status_code == 307

    @pytest.mark.parametrize("path", ["/tasks", "/consoles", "/hitl/pending", "/Console"])
    async def test_everything_else_still_needs_the_key(self, engine: Live, path: str) -> None:
        assert (await raw(engine, path))[0] == 401

    @pytest.mark.parametrize(
        "path",
        [
            "/console/../health.py",
            "/console/%2e%2e/app.py",
            "/console/..%2fapp.py",
            "/console/..%5capp.py",
            "/console/../__init__.py",
            "/console/assets/../../__init__.py",
            "/console/assets/%2e%2e/%2e%2e/__init__.py",
            "/console/assets/..",
            "/console/assets/",
            "/console/assets",
            "/console/assets/nothing.js",
            "/console/index.html%00.js",
            "/console/main.js",
            "/console/__init__.py",
            "/console/.env",
            "/console/assets//etc/passwd",
        ],
    )
    async def test_nothing_but_the_build_is_served(self, engine: Live, path: str) -> None:
        status, body = await raw(engine, path)
        assert (status, b"NOT_FOUND" in body) == (404, True)

    async def test_a_place_that_looks_like_a_file_elsewhere_is_just_the_page(self, engine: Live) -> None:
        for path in ("/console//etc/passwd", "/console/chat/../../../../etc/passwd"):
            assert (await raw(engine, path))[1].endswith((APP / console.PAGE).read_bytes())

    async def test_it_is_not_part_of_the_api(self, engine: Live) -> None:
        paths = (await engine.http.get("/openapi.json")).json()["paths"]
        assert not {path for path in paths if console.is_open(path)}

    async def test_a_build_of_your_own_takes_its_place(self, model: ModelServer, tmp_path: Path) -> None:
        (tmp_path / "index.html").write_text("mine")
        (tmp_path / "assets").mkdir()
        (tmp_path.parent / "secret.js").write_text("secret")
        async with live(model, console_dir=tmp_path) as engine:
            assert (await seen(engine, "/console/chat/t1")).text == "mine"
            assert (await raw(engine, "/console/../secret.js"))[0] == 404
            assert (await seen(engine, f"/console/{FILES[0]}")).status_code == 404


class TestBuild:
    def test_the_page_finds_all_it_names(self) -> None:
        page = (APP / console.PAGE).read_text()
        named = re.findall(r'(?:src|href)="/console/([^"]+)"', page)
        assert named
        assert set(named) <= set(FILES)
        assert re.findall(r"\son\w+=|style=|<script>|<style", page) == []

    def test_scripts_are_named_for_what_is_in_them(self) -> None:
        assert all(re.search(r"-[\w-]{8}\.(js|css)$", name) for name in FILES if name.startswith("assets/"))

    def test_nothing_is_loaded_from_another_host(self) -> None:
        for name in FILES:
            text = (APP / name).read_text()
            assert re.findall(r"(?:import|fetch|url|src)\s*\(?=?\s*[\"'`(](?:https?:)?//\w[^\"'`)]*", text) == []
