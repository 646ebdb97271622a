"""The figures of the gateway are made of whole answers, and come with what they are compared with."""

from dataclasses import replace
from pathlib import Path

import httpx2
from benchmarks.canned import CHUNK, serving
from benchmarks.rows import gateway
from benchmarks.scale import QUICK

SMALL = replace(QUICK, stream_tokens=40, parsed_streams=1, imports=1)


async def test_every_protocol_is_read_to_its_end(tmp_path: Path) -> None:
    figures = await gateway.parse_cost(tmp_path, SMALL)
    assert [figure.name.split(",")[0] for figure in figures] == list(gateway.endpoints("http://127.0.0.1"))
    assert all(figure.aster > 0 and figure.beside for figure in figures)


async def test_an_import_is_timed_in_a_fresh_interpreter(tmp_path: Path) -> None:
    figures = await gateway.import_time(tmp_path, SMALL)
    assert all(figure.aster > 0 and figure.beside for figure in figures)


async def test_what_nobody_needs_is_found() -> None:
    assert (await gateway.imported("openai"))[1] == ["openai"]


async def test_the_same_answer_comes_every_time() -> None:
    body = b"data: {}\n\n" * CHUNK
    with serving(body) as url:
        async with httpx2.AsyncClient(trust_env=False) as client:
            answers = [await client.post(url, content=b"x" * size) for size in (0, 10, 100_000)]
    assert [answer.content for answer in answers] == [body] * 3
