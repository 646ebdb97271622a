"""Skills that users write: what they may say of one, checked field by field, and how it is kept.

A draft is also how a skill travels with exported memory, that of the agent too. It has a name that cannot be a path,
files that cannot leave their skill, and limits on everything.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from aster.brain.skills import SkillRow
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.model import Contract, encode
from aster.skills.composed import Composed, problems
from aster.skills.skill import (
    ALL_BYTES,
    BODY_CHARS,
    CODE_CHARS,
    DEGRADED_AFTER,
    DESCRIPTION_CHARS,
    FILE_BYTES,
    IDENTIFIER,
    MOST_FILES,
    Acquired,
    Skill,
    file_problem,
    one_line,
    well_named,
)

MOST_TAGS: Final = 32
TAG_CHARS: Final = 64


class Draft(Contract):
    """A skill as its user wrote it; it has instructions or scripts, or both. One that travels may be the agent's: code,
    or calls of tools."""

    name: str
    description: str = ""
    category: str = ""
    prompt: str = ""
    capabilities: Annotated[tuple[str, ...], Meta(max_length=MOST_TAGS)] = ()
    scripts: Annotated[dict[str, str], Meta(max_length=MOST_FILES)] = {}
    acquired: Acquired | None = None
    composed: Composed | None = None


class Proposed(Contract):
    """A composed skill as it is kept."""

    description: str
    composed: Composed


class Learned(Contract):
    """An acquired skill as it is kept."""

    description: str
    acquired: Acquired


def checked(draft: Draft) -> Draft:
    """The draft, or an error that names every field that is wrong."""
    problems = [{"field": field, "problem": problem} for field, problem in _problems(draft)]
    if problems:
        said = "; ".join(f"`{each['field']}` {each['problem']}" for each in problems)
        raise EngineError(
            ErrorCode.INVALID_REQUEST, f"Correct this and send it again: {said}.", {"fields": problems}
        )
    return draft


def _problems(draft: Draft) -> Iterator[tuple[str, str]]:
    if draft.acquired is not None or draft.composed is not None:
        yield from _wrongly_made(draft)
        return
    if not well_named(draft.name):
        yield "name", "has to be lowercase letters and digits, in parts joined by hyphens, 64 characters at most"
    if len(draft.description) > DESCRIPTION_CHARS:
        yield "description", f"may have {DESCRIPTION_CHARS} characters"
    if len(draft.prompt) > BODY_CHARS:
        yield "prompt", f"may have {BODY_CHARS} characters"
    if not draft.prompt.strip() and not draft.scripts:
        yield "prompt", "is missing, and there are no scripts"
    for field, words in (("category", (draft.category,)), ("capabilities", draft.capabilities)):
        if any(len(word) > TAG_CHARS or not (word.isprintable()) for word in words):
            yield field, f"has to be printable text of up to {TAG_CHARS} characters"
    yield from _wrong_scripts(draft.scripts)


def _wrongly_made(draft: Draft) -> Iterator[tuple[str, str]]:
    """What is wrong with a skill of an agent's. Its code and its schema are judged whenever it is used."""
    if IDENTIFIER.fullmatch(draft.name) is None:
        yield "name", "has to be an identifier of 64 characters at most"
    if len(draft.description) > DESCRIPTION_CHARS:
        yield "description", f"may have {DESCRIPTION_CHARS} characters"
    if draft.prompt or draft.scripts or (draft.acquired is not None and draft.composed is not None):
        yield "acquired", "is a skill of its own, without a prompt, scripts and calls"
    if draft.acquired is not None and (
        len(draft.acquired.code) > CODE_CHARS or len(encode(draft.acquired)) > 4 * CODE_CHARS
    ):
        yield "acquired", f"may have {CODE_CHARS} characters of code and a small schema and test"
    if draft.composed is not None:
        yield from (("composed", f"cannot be run: {problem}") for problem in problems(draft.composed, None))


def _wrong_scripts(scripts: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    sizes = [len(text.encode("utf-8", "replace")) for text in scripts.values()]
    if len(scripts) > MOST_FILES or sum(sizes) > ALL_BYTES or max(sizes, default=0) > FILE_BYTES:
        yield "scripts", f"may be {MOST_FILES} files of {FILE_BYTES:,} bytes, {ALL_BYTES:,} in all"
    if len(scripts) > MOST_FILES:
        return
    for name in scripts:
        if (problem := file_problem(name)) is not None:
            yield "scripts", f"has the file {one_line(name, 80)!r}; {problem}"
    folded = {name.casefold() for name in scripts}
    if len(folded) < len(scripts) or any(
        name.startswith(f"{other}/") for name in folded for other in folded if name != other
    ):
        yield "scripts", "has two files that cannot lie beside each other"


def drafts_from(given: Sequence[bytes | msgspec.Raw]) -> tuple[Draft, ...]:
    """The skills of an exported memory, all of them checked before the first is kept."""
    try:
        return tuple(checked(msgspec.json.decode(each, type=Draft)) for each in given)
    except msgspec.ValidationError as error:
        raise EngineError(
            ErrorCode.INVALID_REQUEST, f"A skill of this memory cannot be read: {error}. Nothing was taken in."
        ) from None


def row_of(user_id: str, draft: Draft, now: int, created_at: int | None = None) -> SkillRow:
    return SkillRow(
        user_id=user_id,
        name=draft.name,
        kind="custom",
        body=encode(draft),
        created_at=now if created_at is None else created_at,
        updated_at=now,
    )


def draft_of(row: SkillRow) -> Draft:
    return msgspec.json.decode(row.body, type=Draft)


def leaving(row: SkillRow) -> Draft:
    """A skill of a user's as it travels."""
    if row.kind == "custom":
        return draft_of(row)
    skill = skill_of(row)
    return Draft(name=skill.name, description=skill.description, acquired=skill.acquired, composed=skill.composed)


def arriving(user_id: str, draft: Draft, now: int) -> SkillRow:
    """A skill from elsewhere as it is kept here. What an agent made has to prove itself anew: code by its first
    success, calls by a person's approval."""
    if draft.acquired is not None:
        fresh = msgspec.structs.replace(draft.acquired, status="degraded", failures=DEGRADED_AFTER, uses=0)
        return learned(user_id, draft.name, draft.description, fresh, now)
    if draft.composed is not None:
        asked = msgspec.structs.replace(draft.composed, status="proposed", uses=0, failures=0)
        return proposed(user_id, draft.name, draft.description, asked, now)
    return row_of(user_id, draft, now)


def learned(user_id: str, name: str, description: str, acquired: Acquired, now: int) -> SkillRow:
    body = encode(Learned(description=description, acquired=acquired))
    return SkillRow(user_id=user_id, name=name, kind="acquired", body=body, created_at=now, updated_at=now)


def proposed(user_id: str, name: str, description: str, composed: Composed, now: int) -> SkillRow:
    body = encode(Proposed(description=description, composed=composed))
    return SkillRow(user_id=user_id, name=name, kind="composed", body=body, created_at=now, updated_at=now)


def skill_of(row: SkillRow) -> Skill:
    """A user's skill as everybody sees skills."""
    if row.kind == "acquired":
        learned = msgspec.json.decode(row.body, type=Learned)
        return Skill(row.name, learned.description, "acquired", category="acquired", acquired=learned.acquired)
    if row.kind == "composed":
        macro = msgspec.json.decode(row.body, type=Proposed)
        return Skill(row.name, macro.description, "composed", category="composed", composed=macro.composed)
    draft = draft_of(row)
    described = draft.description or next(iter(draft.prompt.strip().split("\n")), "") or "No description."
    return Skill(
        name=draft.name,
        description=one_line(described, DESCRIPTION_CHARS),
        source="custom",
        body=draft.prompt,
        category=draft.category or "general",
        capabilities=draft.capabilities,
        files={name: text.encode("utf-8", "replace") for name, text in draft.scripts.items()},
    )
