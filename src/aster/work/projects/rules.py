"""What may be said of a project, whoever says it. What breaks a rule is refused whole, with the field that does."""

import re
from collections.abc import Callable
from typing import Final

from aster.brain.projects import ProjectDraft, ProjectEdit
from aster.contracts.projects import ProjectBudget
from aster.work.graph.rules import unfit

TITLE_CHARS: Final = 200
BRIEF_CHARS: Final = 20_000
CONTENT_CHARS: Final = 100_000
MESSAGE_CHARS: Final = 2000
KIND_CHARS: Final = 64
_KIND: Final = re.compile(r"[a-z][a-z0-9_.-]{0,63}")
Clean = Callable[[str], str]


def draft(given: ProjectDraft, clean: Clean) -> ProjectDraft:
    _budget(given.budget)
    return ProjectDraft(
        title=title(given.title, clean),
        brief=words("brief", given.brief, BRIEF_CHARS, clean),
        notes=words("notes", given.notes, BRIEF_CHARS, clean),
        budget=given.budget,
    )


def edit(given: ProjectEdit, clean: Clean) -> ProjectEdit:
    if given.budget is not None:
        _budget(given.budget)
    return ProjectEdit(
        title=None if given.title is None else title(given.title, clean),
        brief=None if given.brief is None else words("brief", given.brief, BRIEF_CHARS, clean),
        notes=None if given.notes is None else words("notes", given.notes, BRIEF_CHARS, clean),
        budget=given.budget,
    )


def title(given: str, clean: Clean) -> str:
    text = " ".join(given.split())
    if not text or not text.isprintable() or len(text) > TITLE_CHARS:
        raise unfit("title", f"has to be one line of 1 to {TITLE_CHARS} characters")
    return clean(text)


def words(field: str, given: str, most: int, clean: Clean) -> str:
    if len(given) > most or "\x00" in given:
        raise unfit(field, f"has to have at most {most} characters, none of them NUL")
    return clean(given)


def content(given: str, clean: Clean) -> str:
    if not given.strip():
        raise unfit("content", "is empty")
    return words("content", given, CONTENT_CHARS, clean)


def message(given: str, clean: Clean) -> str:
    if not given.strip():
        raise unfit("message", "is empty")
    return words("message", given, MESSAGE_CHARS, clean)


def kind(given: str) -> str:
    if _KIND.fullmatch(given) is None:
        raise unfit("kind", f"has to be 1 to {KIND_CHARS} small letters, digits and `_.-`, beginning with a letter")
    return given


def _budget(given: ProjectBudget) -> None:
    for name in given.__struct_fields__:
        value = getattr(given, name)
        if value is not None and not 0 <= value <= 1e9:
            raise unfit(f"budget.{name}", "has to be from 0 to 1000000000, or null for no limit")
