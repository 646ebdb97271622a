"""Fetching under guard: what is refused before, during and after a hop, and what a page may weigh."""

import asyncio
import gzip
import socket
import zlib
from pathlib import Path

import pytest

from aster.contracts.tools import OutcomeClass
from aster.sandbox.fetch import REDIRECTS, Fetcher, FetchFailed
from aster.sandbox.reach import Reach, Refused
from tests.sandbox.certificates import authority
from tests.web_server import Asked, reply, web_server

OPEN = Reach(private="127.0.0.1")


def page(asked: Asked) -> bytes:
    return reply(f"<p>{asked.target}</p>")


async def test_a_page_arrives_with_what_it_is() -> None:
    async with web_server(page) as server:
        got = await Fetcher(OPEN).get(f"{server.url}/a?b=1#part")
    assert (got.status, got.body, got.content_type) == (200, b"<p>/a?b=1</p>", "text/html")
    assert got.url == f"{server.url}/a?b=1"
    asked = server.asked[0]
    assert asked.headers["user-agent"].startswith("Aster/")
    assert "cookie" not in asked.headers
    assert asked.headers["host"] == f"127.0.0.1:{server.port}"


@pytest.mark.parametrize(
    "url",
    [
        *(
            "file:///etc/passwd",
            "gopher://example.com/",
            "dict://example.com/",
            "ftp://example.com/",
            "data:text/html,x",
        ),
        *(
            "http://127.0.0.1/",
            "http://localhost/",
            "http://10.0.0.1/",
            "http://172.16.0.1/",
            "http://192.168.0.1/",
        ),
        *(
            "http://169.254.169.254/latest/meta-data/",
            "http://[::1]/",
            "http:///path",
            "http://",
            "example.com",
            "",
        ),
        *("http://[::ffff:127.0.0.1]/", "http://[64:ff9b::7f00:1]/", "http://[2002:7f00:1::]/", "http://0/"),
        *("http://2130706433/", "http://0x7f.1/", "http://0177.0.0.1/", "http://127.1/", "http://127.0.0.1./"),
        *("http://user:secret@example.com/", "http://user@127.0.0.1/", "http://100.64.0.1/", "http://0.0.0.0/"),
        *("http://[fe80::1%25eth0]/", "http://１２７.0.0.1/", "http://ex ample.com/", "http://a\x00b/", "https://"),
    ],
)
async def test_what_is_not_public_is_refused(url: str) -> None:
    with pytest.raises(Refused):
        await Fetcher(Reach()).get(url)


async def test_a_name_that_resolves_inside_is_refused() -> None:
    async def resolve(host: str, port: int) -> list[str]:
        return ["93.184.216.34", "10.0.0.7"]

    with pytest.raises(Refused, match="private"):
        await Fetcher(Reach(resolve=resolve)).get("http://rebound.example/")


async def test_an_answer_that_changes_after_the_check_cannot_win() -> None:
    """The connection goes to the address that was judged; a second look-up never happens."""
    answers = [["127.0.0.1"], ["127.0.0.2"]]

    async def resolve(host: str, port: int) -> list[str]:
        return answers.pop(0)

    async with web_server(page) as judged:
        got = await Fetcher(Reach(private="127.0.0.1", resolve=resolve)).get(
            f"http://changing.example:{judged.port}/"
        )
        assert got.status == 200
        assert judged.asked[0].headers["host"] == f"changing.example:{judged.port}"
        with pytest.raises(Refused, match="loopback"):
            await Fetcher(Reach(private="127.0.0.1", resolve=resolve)).get(
                f"http://changing.example:{judged.port}/"
            )
    assert answers == []


@pytest.mark.parametrize(
    "target",
    ["http://169.254.169.254/latest/", "http://10.0.0.1/", "file:///etc/passwd", "//127.0.0.2/x", "http://u@a/"],
)
async def test_a_redirect_inside_is_refused(target: str) -> None:
    async with web_server(lambda asked: reply(status=302, Location=target)) as server:
        with pytest.raises(Refused, match=r"redirects there|not on the public"):
            await Fetcher(OPEN).get(server.url)


async def test_a_safe_redirect_is_followed() -> None:
    def answer(asked: Asked) -> bytes:
        return reply(status=301, Location="/there?x=1") if asked.target == "/" else page(asked)

    async with web_server(answer) as server:
        got = await Fetcher(OPEN).get(server.url)
    assert got.body == b"<p>/there?x=1</p>"
    assert got.hops == (server.url,)


async def test_endless_redirects_end() -> None:
    async with web_server(lambda asked: reply(status=307, Location=asked.target + "x")) as server:
        with pytest.raises(FetchFailed, match="too many redirects") as caught:
            await Fetcher(OPEN).get(f"{server.url}/")
    assert caught.value.reason == "too_many_redirects"
    assert len(server.asked) == REDIRECTS + 1


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "raw-deflate"])
async def test_packed_pages_are_unpacked(encoding: str) -> None:
    text = b"hello " * 50_000
    bare = zlib.compressobj(wbits=-15)
    packed = {
        "gzip": gzip.compress(text),
        "deflate": zlib.compress(text),
        "raw-deflate": bare.compress(text) + bare.flush(),
    }[encoding]
    said = encoding.removeprefix("raw-")
    async with web_server(lambda asked: reply(packed, Content_Encoding=said)) as server:
        assert (await Fetcher(OPEN).get(server.url)).body == text


async def test_a_bomb_is_not_unpacked() -> None:
    bomb = gzip.compress(b"\0" * 60_000_000)
    async with web_server(lambda asked: reply(bomb, Content_Encoding="gzip")) as server:
        with pytest.raises(FetchFailed) as caught:
            await Fetcher(OPEN).get(server.url)
    assert caught.value.reason == "too_large"


@pytest.mark.parametrize("said", [True, False])
async def test_a_large_page_is_not_read(said: bool) -> None:
    def answer(asked: Asked) -> bytes:
        body = b"x" * 300_000
        return reply(body) if said else b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + body

    async with web_server(answer) as server:
        with pytest.raises(FetchFailed, match="larger than"):
            await Fetcher(OPEN, most_bytes=100_000).get(server.url)


@pytest.mark.parametrize(
    ("status", "failure", "wait"),
    [
        (401, OutcomeClass.FATAL, None),
        (403, OutcomeClass.FATAL, None),
        (404, OutcomeClass.DIAGNOSTIC, None),
        (429, OutcomeClass.RETRYABLE, 7.0),
        (503, OutcomeClass.RETRYABLE, 7.0),
    ],
)
async def test_statuses_say_what_to_do(status: int, failure: OutcomeClass, wait: float | None) -> None:
    async with web_server(lambda asked: reply(status=status, Retry_After="7")) as server:
        with pytest.raises(FetchFailed) as caught:
            await Fetcher(OPEN).get(server.url)
    assert (caught.value.failure, caught.value.retry_after, caught.value.status) == (failure, wait, status)


async def test_a_server_that_never_answers_costs_the_time_limit() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        pytest.raises(FetchFailed, match=r"within 0\.2 seconds") as caught,
    ):
        await Fetcher(OPEN, seconds=0.2).get(f"http://127.0.0.1:{silent.getsockname()[1]}/")
    assert caught.value.failure is OutcomeClass.RETRYABLE


@pytest.mark.parametrize(
    "answer", [b"", b"nonsense\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort"]
)
async def test_broken_answers_are_failures(answer: bytes) -> None:
    async with web_server(lambda asked: answer) as server:
        with pytest.raises(FetchFailed):
            await Fetcher(OPEN).get(server.url)


async def test_lists_of_hosts() -> None:
    async with web_server(page) as server:
        with pytest.raises(Refused, match="blocked"):
            await Fetcher(Reach(private="127.0.0.1", blocked="127.0.0.1")).get(server.url)
        with pytest.raises(Refused, match="other hosts only"):
            await Fetcher(Reach(private="127.0.0.1", allowed="*.example.com")).get(server.url)
        allowed = Reach(private="127.0.0.0/8", allowed=f"127.0.0.1:{server.port}")
        assert (await Fetcher(allowed).get(server.url)).status == 200


async def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    async with web_server(page) as server:
        assert (await Fetcher(OPEN).get(server.url)).status == 200


async def test_tls_is_checked_against_the_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def resolve(host: str, port: int) -> list[str]:
        return ["127.0.0.1"]

    signed = authority(tmp_path, "good.example")
    monkeypatch.setenv("SSL_CERT_FILE", str(signed.authority))
    fetcher = Fetcher(Reach(private="127.0.0.1", resolve=resolve))
    async with web_server(page, tls=signed.context) as server:
        got = await fetcher.get(f"https://good.example:{server.port}/")
        assert (got.status, server.asked[0].headers["host"]) == (200, f"good.example:{server.port}")
        with pytest.raises(FetchFailed, match="certificate"):
            await fetcher.get(f"https://other.example:{server.port}/")


async def test_many_pages_at_once() -> None:
    async with web_server(page) as server:
        fetcher = Fetcher(OPEN)
        got = await asyncio.gather(*(fetcher.get(f"{server.url}/{number}") for number in range(20)))
    assert [one.body for one in got] == [f"<p>/{number}</p>".encode() for number in range(20)]
