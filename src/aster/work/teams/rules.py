"""What may be said of a team, whoever says it: a model, a program or a person. What breaks a rule is refused whole,
with the field that does."""

import re
from collections.abc import Callable, Sequence
from typing import Final

from msgspec.structs import replace

from aster.contracts.teams import RESERVED, MemberDraft
from aster.work.graph import rules as graph_rules
from aster.work.graph.rules import unfit

NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
MAIL_CHARS: Final = 20_000


def members(given: Sequence[MemberDraft], most: int, clean: Callable[[str], str]) -> tuple[MemberDraft, ...]:
    """Members that may be made, without secrets in what they are told."""
    if not 0 < len(given) <= most:
        raise unfit("members", f"has to be 1 to {most} members")
    seen: set[str] = set()
    for at, draft in enumerate(given):
        where = f"members.{at}"
        name(f"{where}.name", draft.name)
        if draft.name.casefold() in seen:
            raise unfit(f"{where}.name", f"is {draft.name!r} for the second time; case makes no difference")
        seen.add(draft.name.casefold())
        words(f"{where}.prompt", draft.prompt)
        if draft.role:
            graph_rules.roles((draft.role,))
    return tuple(replace(draft, prompt=clean(draft.prompt.strip())) for draft in given)


def name(field: str, given: str) -> str:
    """The name of a member."""
    if NAME.fullmatch(given) is None:
        raise unfit(field, "has to be 1 to 64 letters, digits, `_` or `-`")
    if given.casefold() in RESERVED:
        raise unfit(field, f"may not be {given!r}, which means somebody else in every team")
    return given


def team(given: str) -> str:
    """What a team is called."""
    if NAME.fullmatch(given) is None:
        raise unfit("name", "has to be 1 to 64 letters, digits, `_` or `-`")
    return given


def words(field: str, given: str) -> str:
    """What one writes to another."""
    if not given.strip():
        raise unfit(field, "says nothing")
    if len(given) > MAIL_CHARS:
        raise unfit(field, f"is longer than {MAIL_CHARS} characters; put the rest into a file and name it")
    return given
