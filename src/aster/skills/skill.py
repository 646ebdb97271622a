"""A skill: what it is for, its instructions and its files, whoever wrote it.

`source` says who did, and so how far it is trusted: the platform and the operator, the user (`custom`), the agent
itself (`acquired`, and `composed` once a person approves), or whoever owns the workspace. Nothing in a skill gives
permission to do anything.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from aster.contracts.model import Contract
from aster.skills.composed import Composed

Source: TypeAlias = Literal["platform", "operator", "custom", "acquired", "composed", "workspace"]
Status: TypeAlias = Literal["active", "degraded", "retired"]

NAME: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
NAME_CHARS: Final = 64
DESCRIPTION_CHARS: Final = 1024
BODY_CHARS: Final = 100_000
CODE_CHARS: Final = 60_000
DEGRADED_AFTER: Final = 3
RETIRED_AFTER: Final = 6
MOST_FILES: Final = 64
FILE_BYTES: Final = 256_000
ALL_BYTES: Final = 1_000_000

_FILE: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_. -]*(?:/[A-Za-z0-9_][A-Za-z0-9_. -]*)*")
_FILE_CHARS: Final = 200


class Acquired(Contract):
    """Code that the agent wrote, which passed its test, and how it has done since."""

    code: str
    parameters: dict[str, Any]
    test_payload: dict[str, Any]
    version: int = 1
    uses: int = 0
    failures: int = 0
    status: Status = "active"


@dataclass(frozen=True, slots=True)
class Skill:
    """`tools` is what it asks for and never gets by asking; `place` is where its files lie already, if they do."""

    name: str
    description: str
    source: Source
    body: str = ""
    category: str = "general"
    capabilities: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    files: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    place: str | None = None
    acquired: Acquired | None = None
    composed: Composed | None = None

    @property
    def confidence(self) -> float:
        """How far it may be relied on: what the agent wrote itself has to prove it."""
        if self.composed is not None and self.composed.failures >= DEGRADED_AFTER:
            return 0.1
        if self.acquired is None:
            return 0.5 if self.source == "workspace" else 1.0
        if self.acquired.status != "active":
            return 0.1
        return round(1 - 0.5 / (1 + self.acquired.uses) - 0.15 * self.acquired.failures, 2)

    @property
    def own(self) -> bool:
        """Whether the agent made it."""
        return self.acquired is not None or self.composed is not None

    @property
    def offered(self) -> bool:
        if self.composed is not None:
            return self.composed.status in ("approved", "degraded")
        return self.acquired is None or self.acquired.status != "retired"


def standing(failures: int) -> Status:
    """How something stands that failed so often in a row."""
    return "retired" if failures >= RETIRED_AFTER else "degraded" if failures >= DEGRADED_AFTER else "active"


def well_named(name: str) -> bool:
    return len(name) <= NAME_CHARS and NAME.fullmatch(name) is not None


def file_problem(name: str) -> str | None:
    """Why a skill cannot have a file of this name; None if it can."""
    if (
        len(name) > _FILE_CHARS
        or _FILE.fullmatch(name) is None
        or any(part != part.strip() for part in name.split("/"))
    ):
        return "a file name is letters, digits, `_`, `-`, `.` and `/`, and no part of it begins with a dot"
    if name.casefold() == "skill.md":
        return "SKILL.md is the skill itself, not one of its files"
    return None


def one_line(text: str, chars: int) -> str:
    """Text on one line, without anything that cannot be seen, cut to a length."""
    plain = text if text.isprintable() else "".join(c if c.isprintable() else " " for c in text)
    plain = " ".join(plain.split())
    return plain if len(plain) <= chars else plain[: chars - 1].rstrip() + "…"
