"""The operator's rules: a JSON file, read at start and again whenever it has changed.

`{"rules": [{"behavior": "deny", "tool": "bash", "pattern": "curl *", "reason": "There is no network here."}]}`,
or the list alone. A file that cannot be right stops the start and says which rule; one that breaks later is told in
the log, and the rules before stay in force.
"""

import logging
from pathlib import Path
from typing import Any, cast

import msgspec

from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.model import Contract
from aster.contracts.permissions import Behavior
from aster.sandbox.rules import ANYTHING, Rule

log = logging.getLogger("aster.permissions")

_SETTING = "PERMISSION_RULES_PATH"
_MOST_BYTES = 1_000_000


class _Line(Contract, forbid_unknown_fields=True):
    """A rule as it is written; `path` and `content` are other words for `pattern`."""

    behavior: Behavior
    tool: str = ANYTHING
    pattern: str | None = None
    path: str | None = None
    content: str | None = None
    reason: str = ""
    every_time: bool = False


class RuleFile:
    """The rules of one file, as they are now."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._seen: tuple[int, int] | None = None
        self._rules: tuple[Rule, ...] = ()
        if path is not None:
            self._seen, self._rules = _stamp(path), read(path)

    @property
    def rules(self) -> tuple[Rule, ...]:
        if self._path is not None:
            stamp = _stamp(self._path)
            if stamp != self._seen:
                self._seen = stamp
                self._renew(self._path)
        return self._rules

    def _renew(self, path: Path) -> None:
        try:
            self._rules = read(path)
        except EngineError as error:
            log.error("the rules before stay in force: %s", error.message)


def read(path: Path) -> tuple[Rule, ...]:
    """The rules of a file, each with its number as its id."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise _wrong(f"{path} cannot be read ({error.strerror})") from error
    if len(data) > _MOST_BYTES:
        raise _wrong(f"{path} is too large to be rules")
    try:
        said: Any = msgspec.json.decode(data)
    except msgspec.DecodeError as error:
        raise _wrong(f"{path} is not JSON: {error}") from error
    lines = cast("dict[str, Any]", said).get("rules") if isinstance(said, dict) else said
    if not isinstance(lines, list):
        raise _wrong(f"{path} has to be a list of rules, or an object whose `rules` is one")
    return tuple(_rule(number, line) for number, line in enumerate(cast("list[Any]", lines), 1))


def _rule(number: int, said: Any) -> Rule:
    try:
        line = msgspec.convert(said, _Line)
    except msgspec.ValidationError as error:
        raise _wrong(f"rule {number}: {error}") from error
    patterns = [pattern for pattern in (line.pattern, line.path, line.content) if pattern is not None]
    if len(patterns) > 1:
        raise _wrong(f"rule {number}: `pattern`, `path` and `content` are words for the same; say one of them")
    if line.every_time and line.behavior != "ask":
        raise _wrong(f"rule {number}: `every_time` belongs to a rule that asks")
    return Rule(
        behavior=line.behavior,
        tool=line.tool,
        pattern=patterns[0] if patterns else ANYTHING,
        reason=line.reason,
        every_time=line.every_time,
        id=str(number),
    )


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def _wrong(problem: str) -> EngineError:
    return EngineError(
        ErrorCode.CONFIGURATION_INVALID,
        f"{_SETTING}: {problem}. Set it right and start again.",
        {_SETTING: problem},
    )
