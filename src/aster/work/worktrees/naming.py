"""What a worktree may be called and begin at, whoever says so: a model, a program or a person."""

import re
from pathlib import Path
from typing import Final

from aster.contracts.errors import EngineError, ErrorCode

NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
BASE: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._/~^@{}-]{0,199}")
PLACE: Final = (".aster", "worktrees")
"""Where a repository has its worktrees."""


def name(given: str) -> str:
    """A name that is safe as a directory and as the end of a branch."""
    if NAME.fullmatch(given) is None or ".." in given or given.endswith((".", ".lock")):
        said = "has to be 1 to 64 letters, digits and `._-`, beginning with a letter or digit, without `..`"
        raise unfit("name", f"{said}, and not end in `.` or `.lock`")
    return given


def base(given: str | None) -> str:
    """The revision that a worktree begins at."""
    if given is None:
        return "HEAD"
    if BASE.fullmatch(given) is None or ".." in given:
        raise unfit("base", "has to be the name of a branch, a tag or a commit")
    return given


def branch(name: str) -> str:
    return f"wt/{name}"


def place(repository: Path, name: str) -> Path:
    return repository.joinpath(*PLACE, name)


def registered(repository: Path, name: str) -> Path:
    """Where git keeps what it knows of a worktree."""
    return repository / ".git" / "worktrees" / name


def unfit(field: str, problem: str) -> EngineError:
    return EngineError(
        ErrorCode.INVALID_REQUEST,
        f"Correct this and send it again: `{field}` {problem}. Nothing was changed.",
        {"fields": [{"field": field, "problem": problem}]},
    )
