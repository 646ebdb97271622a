"""The three ways a hook is asked: a command, a web address, a Python function. None of them can hurt a turn.

A command gets the payload as JSON on its standard input and in a few variables, runs with the engine's own rights
(the operator installed it) in the directory of the hooks file, and is killed with all it started when its time is
over.
"""

import asyncio
import contextlib
import importlib
import inspect
import os
import re
import signal
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import httpx2
import msgspec

from aster.engine_core.hooks.reply import MOST_CHARS, Reply, failed, from_exit, from_json, from_value
from aster.engine_core.hooks.settings import Hook

_READ_BYTES = 256_000
_INHERITED = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "USER", "VIRTUAL_ENV")
_VARIABLE = re.compile(r"\$\{(\w+)\}")


async def call(hook: Hook, payload: Mapping[str, Any], directory: Path) -> Reply:
    """Ask a hook and wait for its word, no longer than it may take."""
    try:
        async with asyncio.timeout(hook.timeout):
            if hook.command is not None:
                return await _command(hook.command, payload, directory)
            if hook.url is not None:
                return await _address(hook.url, hook, payload)
            return await _function(hook.python or "", payload)
    except TimeoutError:
        return failed(f"no answer within {hook.timeout:g} seconds", "timeout")
    except (OSError, httpx2.HTTPError, httpx2.InvalidURL) as error:
        return failed(f"{type(error).__name__}: {error}")


async def _command(command: str | list[str], payload: Mapping[str, Any], directory: Path) -> Reply:
    argv = ["/bin/sh", "-c", command] if isinstance(command, str) else command
    child = await asyncio.create_subprocess_exec(
        *argv,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=directory,
        env=_environment(payload),
        start_new_session=True,
    )
    try:
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stderr is not None
        _, stdout, stderr, _ = await asyncio.gather(
            _tell(child.stdin, msgspec.json.encode(payload)),
            _read(child.stdout),
            _read(child.stderr),
            child.wait(),
        )
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        if child.returncode is None:
            await child.wait()
    return from_exit(child.returncode or 0, stdout, stderr)


async def _tell(stdin: asyncio.StreamWriter, data: bytes) -> None:
    """Hand the payload over; a command need not read it."""
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        stdin.write(data)
        await stdin.drain()
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        stdin.close()
        await stdin.wait_closed()


async def _read(stream: asyncio.StreamReader) -> str:
    """What a command writes, up to a limit; the rest is read and dropped so that it does not block."""
    kept = bytearray()
    while piece := await stream.read(65_536):
        kept += piece[: max(0, _READ_BYTES - len(kept))]
    return kept.decode("utf-8", "replace")


def _environment(payload: Mapping[str, Any]) -> dict[str, str]:
    """A few plain variables and the payload's most useful parts; none of the engine's secrets."""
    plain = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    told = {
        "HOOK_EVENT": payload["hook_event_name"],
        "HOOK_TASK_ID": payload["task_id"],
        "HOOK_TOOL_NAME": payload.get("tool_name"),
        "HOOK_TOOL_INPUT": _json(payload.get("tool_input")),
        "HOOK_TOOL_OUTPUT": payload.get("tool_output"),
    }
    return plain | {name: _variable(value) for name, value in told.items() if value is not None}


def _json(value: object) -> str | None:
    return None if value is None else msgspec.json.encode(value).decode()


def _variable(value: str) -> str:
    return value[:MOST_CHARS].replace("\0", "\ufffd")


async def _address(url: str, hook: Hook, payload: Mapping[str, Any]) -> Reply:
    headers = {name: _VARIABLE.sub(_from_environment, value) for name, value in hook.headers.items()}
    async with (
        httpx2.AsyncClient(timeout=hook.timeout, trust_env=False, follow_redirects=False) as client,
        client.stream(
            "POST",
            url,
            content=msgspec.json.encode(payload),
            headers={"Content-Type": "application/json", **headers},
        ) as response,
    ):
        body = bytearray()
        async for piece in response.aiter_bytes():
            body += piece
            if len(body) > _READ_BYTES:
                return failed("its answer is too long")
    if not response.is_success:
        return failed(f"HTTP {response.status_code}")
    return from_json(bytes(body))


def _from_environment(match: re.Match[str]) -> str:
    return os.environ.get(match[1], "")


async def _function(name: str, payload: Mapping[str, Any]) -> Reply:
    try:
        answer = await _run(_find(name), payload)
    except Exception as error:  # noqa: BLE001 - the boundary to the operator's own code
        return failed(f"{type(error).__name__}: {error}")
    return from_value(answer)


async def _run(function: Callable[..., Any], payload: Mapping[str, Any]) -> object:
    if inspect.iscoroutinefunction(function):
        return await function(dict(payload))
    return await asyncio.to_thread(function, dict(payload))


def _find(name: str) -> Callable[..., Any]:
    module, _, attribute = name.partition(":")
    return getattr(importlib.import_module(module), attribute)
