"""What may be said of an item, whoever says it: a model, a program or a person. What breaks a rule is refused whole,
with the field that does."""

import re
from collections.abc import Callable, Sequence
from typing import Final

from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.work import WorkDraft, WorkEdit

MOST_AT_ONCE: Final = 200
SUBJECT_CHARS: Final = 300
TEXT_CHARS: Final = 20_000
REASON_CHARS: Final = 1000
PRIORITIES: Final = (-100, 100)
NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:@/-]{0,63}")
"""Of boards, roles, and of items within one call."""
OWNER_CHARS: Final = 256
"""An owner may be a task, whose id may be any printable text."""


def drafts(given: Sequence[WorkDraft], clean: Callable[[str], str]) -> tuple[WorkDraft, ...]:
    """Items that may be made, without secrets in what they say."""
    if not 0 < len(given) <= MOST_AT_ONCE:
        raise unfit("items", f"has to be 1 to {MOST_AT_ONCE} items")
    names: set[str] = set()
    for at, draft in enumerate(given):
        where = f"items.{at}"
        if draft.name:
            _named(f"{where}.name", draft.name)
            if draft.name in names:
                raise unfit(f"{where}.name", f"is {draft.name!r} for the second time")
            names.add(draft.name)
        _fits(where, draft.subject, draft.description, draft.role, draft.priority)
    return tuple(
        WorkDraft(
            subject=clean(draft.subject.strip()),
            description=clean(draft.description),
            name=draft.name,
            blocked_by=draft.blocked_by,
            role=draft.role,
            priority=draft.priority,
        )
        for draft in given
    )


def edit(given: WorkEdit, clean: Callable[[str], str]) -> WorkEdit:
    """A change that may be made."""
    subject = "x" if given.subject is None else given.subject
    _fits("", subject, given.description or "", given.role, given.priority or 0)
    return WorkEdit(
        subject=None if given.subject is None else clean(given.subject.strip()),
        description=None if given.description is None else clean(given.description),
        role=given.role,
        priority=given.priority,
    )


def text(field: str, given: str | None, most: int, clean: Callable[[str], str]) -> str | None:
    """Words about an item."""
    if given is not None and len(given) > most:
        raise unfit(field, f"is longer than {most} characters")
    return None if given is None else clean(given)


def board(given: str) -> str:
    """The name of a board."""
    _named("board", given)
    return given


def roles(given: Sequence[str]) -> tuple[str, ...]:
    for role in given:
        _named("roles", role)
    return tuple(dict.fromkeys(given))


def owner(given: str) -> str:
    """The name of an owner."""
    if not given.strip() or not given.isprintable() or len(given) > OWNER_CHARS:
        raise unfit("owner", f"has to be printable text of up to {OWNER_CHARS} characters")
    return given


def unfit(field: str, problem: str) -> EngineError:
    return EngineError(
        ErrorCode.INVALID_REQUEST,
        f"Correct this and send it again: `{field}` {problem}. Nothing was changed.",
        {"fields": [{"field": field, "problem": problem}]},
    )


def _fits(where: str, subject: str, description: str, role: str | None, priority: int) -> None:
    at = f"{where}." if where else ""
    if not subject.strip() or not subject.isprintable() or len(subject) > SUBJECT_CHARS:
        raise unfit(f"{at}subject", f"has to be one line of 1 to {SUBJECT_CHARS} characters")
    if len(description) > TEXT_CHARS:
        raise unfit(f"{at}description", f"is longer than {TEXT_CHARS} characters")
    lowest, highest = PRIORITIES
    if not lowest <= priority <= highest:
        raise unfit(f"{at}priority", f"has to be between {lowest} and {highest}")
    if role:
        _named(f"{at}role", role)


def _named(field: str, given: str) -> None:
    if NAME.fullmatch(given) is None:
        raise unfit(field, "has to be 1 to 64 letters, digits and `._:@/-`, beginning with a letter or digit")
