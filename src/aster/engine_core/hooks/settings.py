"""Which hooks there are: read once from a file of the operator's that no agent can write.

`{"hooks": {"PreToolUse": [{"matcher": "bash", "command": "…"}]}}`. A hook is a command, a web address or a Python
function; a file that says anything else is refused at start, so that a hook somebody relies on is never missing.
"""

import os
from collections.abc import Iterator
from enum import StrEnum
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import msgspec

from aster.contracts.errors import EngineError, ErrorCode
from aster.infra.settings import Settings

DEFAULT_SECONDS = 30.0
MOST_SECONDS = 600.0


class HookEvent(StrEnum):
    SESSION_START = "SessionStart"
    USER_PROMPT_SUBMIT = "UserPromptSubmit"
    PRE_TOOL_USE = "PreToolUse"
    POST_TOOL_USE = "PostToolUse"
    POST_TOOL_USE_FAILURE = "PostToolUseFailure"
    PERMISSION_REQUEST = "PermissionRequest"
    STOP = "Stop"
    SUBAGENT_STOP = "SubagentStop"
    PRE_COMPACT = "PreCompact"


class Hook(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One hook; exactly one of `command`, `url` and `python` is given.

    `matcher` is a shell pattern over the tool's name, several separated by `|`. `on_error: block` makes a hook that
    fails or takes too long stop what it guards, instead of being passed over.
    """

    matcher: str = "*"
    command: str | list[str] | None = None
    url: str | None = None
    python: str | None = None
    headers: dict[str, str] = {}
    timeout: float = DEFAULT_SECONDS
    on_error: str = "continue"
    name: str | None = None

    @property
    def title(self) -> str:
        """What it is called on the thread: never an address or an argument that might hold a secret."""
        if self.name:
            return self.name
        if self.python:
            return self.python
        if self.url:
            return self.url.split("?")[0].split("@")[-1][:80]
        words = self.command.split() if isinstance(self.command, str) else (self.command or [])
        return Path(words[0]).name if words else "command"

    def fits(self, tool: str | None) -> bool:
        return tool is None or any(fnmatchcase(tool, part.strip()) for part in self.matcher.split("|"))

    def problems(self) -> Iterator[str]:
        if sum(way is not None for way in (self.command, self.url, self.python)) != 1:
            yield "exactly one of `command`, `url` and `python` must be given"
        if self.url is not None and not self.url.startswith(("http://", "https://")):
            yield "`url` must begin with http:// or https://"
        if self.python is not None and ":" not in self.python:
            yield "`python` must be `module:function`"
        if not 0 < self.timeout <= MOST_SECONDS:
            yield f"`timeout` must be between 0 and {MOST_SECONDS:g} seconds"
        if self.on_error not in ("continue", "block"):
            yield "`on_error` must be `continue` or `block`"


class _File(msgspec.Struct, forbid_unknown_fields=True):
    hooks: dict[str, list[Hook]] = {}


def load(settings: Settings) -> dict[HookEvent, tuple[Hook, ...]]:
    """The hooks in force, by event; empty when there is no file or the flags say so."""
    if settings.hooks_path is None or not settings.hooks_settings_load_enabled:
        return {}
    path = Path(os.path.realpath(settings.hooks_path))
    _out_of_reach(path, settings)
    try:
        read = msgspec.json.decode(path.read_bytes(), type=_File)
    except OSError as error:
        raise _invalid(path, f"it cannot be read: {error.strerror}") from error
    except msgspec.DecodeError as error:
        raise _invalid(path, str(error)) from error
    found: dict[HookEvent, tuple[Hook, ...]] = {}
    for name, hooks in read.hooks.items():
        if name not in HookEvent.__members__.values():
            raise _invalid(path, f"{name!r} is no event; they are {', '.join(HookEvent)}")
        for number, hook in enumerate(hooks):
            for problem in hook.problems():
                raise _invalid(path, f"{name}[{number}]: {problem}")
        if hooks and _enabled(HookEvent(name), settings):
            found[HookEvent(name)] = tuple(hooks)
    return found


def _enabled(event: HookEvent, settings: Settings) -> bool:
    match event:
        case HookEvent.PRE_TOOL_USE | HookEvent.PERMISSION_REQUEST:
            return settings.pre_tool_hooks_enabled
        case HookEvent.POST_TOOL_USE | HookEvent.POST_TOOL_USE_FAILURE:
            return settings.post_tool_hooks_enabled
        case HookEvent.STOP | HookEvent.SUBAGENT_STOP:
            return settings.stop_hooks_enabled
        case HookEvent.SESSION_START | HookEvent.USER_PROMPT_SUBMIT | HookEvent.PRE_COMPACT:
            return True


def _out_of_reach(path: Path, settings: Settings) -> None:
    """A file that tools can write is no place for what stands above them."""
    reachable = [Path(os.path.realpath(root)) for root in settings.roots]
    reachable.append(Path(os.path.realpath(settings.data_dir)) / "workspaces")
    if any(path.is_relative_to(place) for place in reachable):
        raise _invalid(path, "it lies where tools can write; move it out of ALLOWED_ROOTS")


def _invalid(path: Path, problem: str) -> EngineError:
    details: dict[str, Any] = {"HOOKS_PATH": str(path)}
    return EngineError(ErrorCode.CONFIGURATION_INVALID, f"HOOKS_PATH: {path.name}: {problem}.", details)
