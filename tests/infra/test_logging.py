"""Log lines through real loggers into a real stream."""

import asyncio
import io
import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aster.infra.logging import Format, JsonFormatter, bind, bind_now, bound, configure
from aster.infra.secrets import PROCESS, REDACTED

log = logging.getLogger("aster.tests.logging")


@pytest.fixture(autouse=True)
def restore() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


class Sink:
    """A configured stream and the lines that came out of it."""

    def __init__(self, level: str = "INFO", style: Format = "json") -> None:
        self.stream = io.StringIO()
        configure(level, style, self.stream)

    @property
    def text(self) -> str:
        return self.stream.getvalue()

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.text.splitlines()]

    @property
    def line(self) -> dict[str, Any]:
        (only,) = self.lines
        return only


def test_a_line_has_always_the_same_fields() -> None:
    sink = Sink()
    log.info("hello %s", "world", extra={"seconds": 1.5, "where": Path("a/b")})
    line = sink.line
    assert list(line) == [
        "timestamp",
        "level",
        "logger",
        "request_id",
        "task_id",
        "turn_id",
        "message",
        "extra",
    ]
    assert line["message"] == "hello world"
    assert line["level"] == "INFO"
    assert line["logger"] == "aster.tests.logging"
    assert line["extra"]["seconds"] == 1.5
    assert "a/b" in line["extra"]["where"]
    assert line["request_id"] is None
    assert line["timestamp"].endswith("Z")


def test_bound_ids_are_on_the_line_and_gone_after_the_block() -> None:
    sink = Sink()
    with bind(request_id="req-1", task_id="t"):
        with bind(turn_id="turn-1", task_id=None):
            log.info("inner")
        log.info("outer")
    log.info("after")
    seen = [(line["request_id"], line["task_id"], line["turn_id"]) for line in sink.lines]
    assert seen == [("req-1", None, "turn-1"), ("req-1", "t", None), (None, None, None)]


async def test_coroutines_do_not_see_each_others_ids() -> None:
    started = asyncio.Barrier(2)

    async def work(name: str) -> str:
        bind_now(task_id=name)
        await started.wait()
        return bound()["task_id"]

    assert await asyncio.gather(work("a"), work("b")) == ["a", "b"]
    assert "task_id" not in bound()


def test_a_level_that_is_off_writes_and_formats_nothing() -> None:
    class Loud:
        def __str__(self) -> str:
            raise AssertionError("formatted")

    sink = Sink("WARNING")
    log.info("%s", Loud())
    assert sink.text == ""


SECRETS = ['quo"te\\and\nline', "ключ-и-ещё", "sk-plain-000111", "with space&and=more"]


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("style", ["json", "text"])
def test_a_secret_never_leaves(secret: str, style: Format) -> None:
    PROCESS.register(secret)
    sink = Sink(style=style)
    log.info("the key is %s", secret, extra={"headers": {"authorization": f"Bearer {secret}", secret: [secret]}})
    try:
        raise ValueError(secret)
    except ValueError:
        log.exception("failed with it")
    with bind(request_id=secret):
        log.info("an id")
    log.info("args %r", secret)
    shown = sink.text
    assert REDACTED in shown
    forms = {secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]}
    for form in forms:
        assert form not in shown
    if style == "json":
        assert len(sink.lines) == 4


def test_a_percent_encoded_secret_is_found_in_an_address() -> None:
    PROCESS.register("a/secret+of?mine")
    sink = Sink()
    log.info("GET https://host/?key=a%2Fsecret%2Bof%3Fmine&x=1")
    assert sink.line["message"] == f"GET https://host/?key={REDACTED}&x=1"


def test_a_number_that_is_a_secret_leaves_valid_json() -> None:
    PROCESS.register("7391882045")
    sink = Sink()
    log.info("n", extra={"count": 7391882045, "ratio": 0.5, "flag": True, "none": None})
    assert sink.line["extra"] == {"count": REDACTED, "ratio": 0.5, "flag": True, "none": None}


def test_what_only_looks_like_a_secret_is_taken_out_too() -> None:
    sink = Sink()
    log.info("pushed with ghp_16C7e42F292c6912E7710c838347Ae178B4a", extra={"url": "postgres://joe:hunter2!@db/x"})
    assert sink.line["message"] == "pushed with [redacted: github token]"
    assert sink.line["extra"] == {"url": "postgres://joe:[redacted: password in a url]@db/x"}


def test_a_traceback_is_one_line_of_json() -> None:
    sink = Sink()
    try:
        raise KeyError("nope")
    except KeyError:
        log.exception("It broke.")
    line = sink.line
    assert "KeyError: 'nope'" in line["extra"]["traceback"]
    assert line["level"] == "ERROR"
    log.info("with a stack", stack_info=True)
    assert "test_logging" in sink.lines[1]["extra"]["stack"]


def test_a_wrong_format_string_is_still_logged() -> None:
    record = logging.makeLogRecord({"msg": "count %d", "args": ("three",)})
    line = json.loads(JsonFormatter().format(record))
    assert line["message"] == "count %d ('three',)"


def test_text_for_people_cannot_forge_a_line() -> None:
    sink = Sink(style="text")
    with bind(task_id="t-1"):
        log.warning("first\n2026-01-01T00:00:00.000Z ERROR forged: \x1b[2J", extra={"n": 3})
    first, second = sink.text.splitlines()
    assert "WARNING aster.tests.logging: first" in first
    assert second.startswith("    2026-01-01")
    assert "\x1b" not in sink.text
    assert second.endswith("task_id=t-1 n=3")


def test_text_shows_a_traceback() -> None:
    sink = Sink(style="text")
    try:
        raise KeyError("nope")
    except KeyError:
        log.exception("It broke.")
    assert "    KeyError: 'nope'" in sink.text


def test_configuring_twice_writes_once() -> None:
    Sink()
    sink = Sink()
    log.info("once")
    assert len(sink.lines) == 1


def test_a_closed_stream_does_not_fail_the_caller() -> None:
    sink = Sink()
    sink.stream.close()
    log.info("lost")


def test_the_http_servers_loggers_take_the_same_way() -> None:
    access = logging.getLogger("uvicorn.access")
    access.setLevel(logging.NOTSET)
    access.addHandler(logging.NullHandler())
    sink = Sink()
    access.info('%s - "%s"', "127.0.0.1", "GET /health")
    assert access.handlers == []
    assert sink.line["logger"] == "uvicorn.access"
    assert sink.line["message"] == '127.0.0.1 - "GET /health"'


def test_formatters_write_to_stdout_by_default() -> None:
    script = (
        "import logging; from aster.infra.logging import configure, bind; configure('INFO');\n"
        "with bind(request_id='req-9'): logging.getLogger('a').info('out')"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["request_id"] == "req-9"
    assert done.stderr == ""
