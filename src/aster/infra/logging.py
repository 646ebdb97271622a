"""Log lines: one JSON object per line on stdout, carrying the ids of the work it was written in.

A secret (`aster.infra.secrets`) never leaves the process in a line: not in a message, an id, an extra, a traceback.
The ids live in a context variable, so that a coroutine writes its own ids and nobody else's.
"""

import logging
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Literal, TextIO, TypeAlias

import msgspec

from aster.infra.clock import iso_ms
from aster.infra.secrets import PROCESS

Format: TypeAlias = Literal["json", "text"]

_LINE_IDS = ("request_id", "task_id", "turn_id")
_STANDARD = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName", "color_message"}
_ROUTED = ("uvicorn", "uvicorn.error", "uvicorn.access", "uvicorn.asgi")
_CHATTY = ("httpx", "httpx2", "httpcore", "httpcore2", "urllib3", "asyncio")
_CONTROLS: dict[int, str] = {code: f"\\x{code:02x}" for code in (*range(9), *range(11, 32), 127)}
"""Control characters that could repaint a terminal; tab and newline stay."""

_ids: ContextVar[Mapping[str, str]] = ContextVar("aster_ids", default={})  # noqa: B039 (never mutated)


def bound() -> Mapping[str, str]:
    """The ids of the work this code runs in."""
    return _ids.get()


def bind_now(**ids: str | None) -> None:
    """Bind ids until the current context ends; None takes an id away."""
    merged = {**_ids.get(), **ids}
    _ids.set({name: value for name, value in merged.items() if value is not None})


@contextmanager
def bind(**ids: str | None) -> Generator[None, None, None]:
    """Bind ids for a block."""
    before = _ids.get()
    bind_now(**ids)
    try:
        yield
    finally:
        _ids.set(before)


def plain(value: Any) -> Any:
    """Anything as plain data that JSON can hold; what is unknown is written as text."""
    return msgspec.to_builtins(value, enc_hook=_as_text, str_keys=True)


def _as_text(value: Any) -> str:
    return f"{value!r:.500}"


def _message(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except (TypeError, ValueError, KeyError):
        return f"{record.msg} {record.args!r}"


def _extra(record: logging.LogRecord) -> dict[str, Any]:
    return {name: value for name, value in record.__dict__.items() if name not in _STANDARD}


class JsonFormatter(logging.Formatter):
    """One object per line, always with the same fields."""

    def format(self, record: logging.LogRecord) -> str:
        ids = _ids.get()
        extra = _extra(record)
        if record.exc_info:
            extra["traceback"] = self.formatException(record.exc_info)
        if record.stack_info:
            extra["stack"] = self.formatStack(record.stack_info)
        entry: dict[str, Any] = {
            "timestamp": iso_ms(int(record.created * 1000)),
            "level": record.levelname,
            "logger": record.name,
            **{name: ids.get(name) for name in _LINE_IDS},
            "message": _message(record),
            "extra": extra,
        }
        line = msgspec.json.encode(plain(entry)).decode()
        if next(PROCESS.found(line, shapes=True), None) is not None:
            line = msgspec.json.encode(PROCESS.clean_data(msgspec.json.decode(line), "log", shapes=True)).decode()
        return line


class TextFormatter(logging.Formatter):
    """For people: a continuation line is indented, so that no text can pose as a line of its own."""

    def format(self, record: logging.LogRecord) -> str:
        ids = _ids.get()
        fields = {name: ids[name] for name in _LINE_IDS if name in ids} | plain(_extra(record))
        tail = "".join(f" {name}={value}" for name, value in fields.items())
        text = f"{_message(record)}{tail}"
        if record.exc_info:
            text = f"{text}\n{self.formatException(record.exc_info)}"
        body = PROCESS.clean(text, "log", shapes=True).replace("\n", "\n    ").translate(_CONTROLS)
        return f"{iso_ms(int(record.created * 1000))} {record.levelname:<7} {record.name}: {body}"


class _LineHandler(logging.StreamHandler[TextIO]):
    """A line that cannot be written is dropped: a closed stdout must not fail the work it reports on."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 (the standard library's name)
        return


def configure(level: str = "INFO", format: Format = "json", stream: TextIO | None = None) -> None:  # noqa: A002
    """Send every logger of the process, the HTTP server's too, through one handler; may be called again."""
    handler = _LineHandler(stream if stream is not None else sys.stdout)
    handler.setFormatter(JsonFormatter() if format == "json" else TextFormatter())
    root = logging.getLogger()
    for old in [known for known in root.handlers if isinstance(known, _LineHandler)]:
        root.removeHandler(old)
    root.addHandler(handler)
    root.setLevel(level)
    for name in _ROUTED:
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True
    for name in _CHATTY:
        logging.getLogger(name).setLevel(max(logging.WARNING, root.level))
