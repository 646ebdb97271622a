"""The shelf: every skill an engine has, and who may use it, by name and never by path.

The platform's and the operator's are for everybody, a user's own for that user alone, those of a workspace for whoever
works there. A name means one skill: the operator's hides the platform's, and nothing else hides either.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Generator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Final

import msgspec

from aster.brain.protocol import Brain
from aster.brain.skills import SkillRow
from aster.contracts.errors import EngineError, ErrorCode
from aster.infra.clock import now_ms
from aster.infra.secrets import Secrets
from aster.infra.settings import Settings
from aster.sandbox.backend import Sandbox
from aster.sandbox.paths import Workspace
from aster.skills import drafts, folders, nearby
from aster.skills.catalogue import catalogue
from aster.skills.composed import Composed
from aster.skills.copies import Copies
from aster.skills.drafts import Draft
from aster.skills.skill import Acquired, Skill, standing

MOST_OWN: Final = 200
MOST_ACQUIRED: Final = 50
MOST_COMPOSED: Final = 50
_MOST_USERS: Final = 2_000


class Shelf:
    """Read with `loaded` before it is used."""

    def __init__(self, settings: Settings, brain: Brain, secrets: Secrets) -> None:
        self._settings = settings
        self._brain = brain
        self._secrets = secrets
        self._shared: dict[str, Skill] = {}
        self._own: OrderedDict[str, dict[str, Skill]] = OrderedDict()
        self._told: OrderedDict[str, tuple[dict[str, Skill], dict[str, Skill], int, str]] = OrderedDict()
        self._door = asyncio.Lock()
        self._changes = 0
        self.copies = Copies(settings.data_dir)
        self.problems: tuple[tuple[str, str], ...] = ()

    @contextmanager
    def loaded(self) -> Generator[None]:
        """Read the platform's and the operator's skills; what is wrong is left out and named in `problems`. What was
        there before comes back if the block fails; blocks."""
        before = self._shared, self.problems
        self._load()
        try:
            yield
        except BaseException:
            self._shared, self.problems = before
            raise

    def _load(self) -> None:
        stock = folders.read(Path(str(files("aster.catalog") / "skills")), "platform")
        given = self._settings.catalog_dir
        operators = folders.read(given / "skills", "operator") if given is not None else folders.Found()
        self._shared = {skill.name: skill for skill in (*stock.skills, *operators.skills)}
        self.problems = (*stock.problems, *operators.problems)

    def shared(self, name: str) -> Skill | None:
        """A skill that everybody has."""
        return self._shared.get(name)

    def at_hand(self, user_id: str, name: str) -> Skill | None:
        """A skill of a user's as it was last read, for those who cannot wait."""
        return self._shared.get(name) or self._own.get(user_id, {}).get(name)

    def has_read(self, user_id: str) -> bool:
        """Whether `at_hand` knows all of a user's skills."""
        return user_id in self._own

    async def of(self, user_id: str) -> dict[str, Skill]:
        """The skills of a user: everybody's and the user's own, by name."""
        return {**await self._owned(user_id), **self._shared}

    async def told(self, user_id: str, most: int) -> str:
        """The catalogue of a user's skills, in so many characters; written once for as long as they are the same."""
        own, shared = await self._owned(user_id), self._shared
        known = self._told.get(user_id)
        if known is None or known[0] is not own or known[1] is not shared or known[2] != most:
            known = own, shared, most, catalogue({**own, **shared}.values(), most)
            self._told[user_id] = known
            if len(self._told) > _MOST_USERS:
                self._told.popitem(last=False)
        return known[3]

    async def nearby(self, sandbox: Sandbox, workspace: Workspace) -> tuple[Skill, ...]:
        """The skills that lie in a workspace, where the operator allows them and has lent the directory: what a task
        fetched into a directory of its own is from outside."""
        if not self._settings.workspace_skills or not self._settings.roots:
            return ()
        return await sandbox.files.call(nearby.read, workspace, self._secrets)

    async def find(self, user_id: str, name: str) -> Skill:
        """The user's skill of this name, or an error."""
        found = (await self.of(user_id)).get(name)
        if found is None:
            raise EngineError(ErrorCode.NOT_FOUND, "There is no such skill. GET /skills lists them.")
        return found

    async def place(self, user_id: str, skill: Skill) -> Path:
        """Where a skill's files can be read by this user's commands."""
        contents = {"skill.py": skill.acquired.code.encode()} if skill.acquired is not None else skill.files
        return await asyncio.to_thread(self.copies.place, user_id, skill.name, contents)

    async def create(self, user_id: str, draft: Draft) -> Skill:
        """Keep a new skill of a user's."""
        drafts.checked(draft)
        async with self._door:
            known = await self.of(user_id)
            if draft.name in known:
                raise _taken(known[draft.name])
            self._check_room(await self._owned(user_id))
            return await self._keep(drafts.row_of(user_id, draft, now_ms()))

    async def update(self, user_id: str, name: str, changes: dict[str, object]) -> Skill:
        """Change fields of a skill of the user's own; its name stays."""
        async with self._door:
            row = await self._row(user_id, name)
            if row.kind != "custom":
                raise EngineError(
                    ErrorCode.PERMISSION_DENIED,
                    "The agent wrote this skill and tests what it changes; delete it, or ask.",
                )
            draft = drafts.checked(msgspec.structs.replace(drafts.draft_of(row), **changes))
            return await self._keep(drafts.row_of(user_id, draft, now_ms(), row.created_at))

    async def delete(self, user_id: str, name: str) -> None:
        """Take away a skill of the user's own, with its copies."""
        async with self._door:
            await self._row(user_id, name)
            await self._brain.drop_skill(user_id, name)
            self._changed(user_id)
        await asyncio.to_thread(self.copies.drop, user_id, name)

    async def drafts(self, user_id: str) -> list[Draft]:
        """What travels with a user's memory: the skills that the user wrote, and those that the agent made."""
        return [drafts.leaving(row) for row in await self._brain.skills(user_id)]

    async def take_in(self, user_id: str, given: tuple[Draft, ...]) -> int:
        """Keep skills from elsewhere; one whose name is known here stays as it is here. Returns how many are new."""
        async with self._door:
            known = await self.of(user_id)
            new = [draft for draft in given if draft.name not in known]
            if new:
                self._check_room(await self._owned(user_id), len(new))
                await self._brain.put(*(drafts.arriving(user_id, drafts.checked(draft), now_ms()) for draft in new))
                self._changed(user_id)
            return len(new)

    async def learn(self, user_id: str, name: str, description: str, acquired: Acquired) -> Skill:
        """Keep code that passed its test: a new skill, or the next version of one of the agent's own."""
        async with self._door:
            known = await self.of(user_id)
            before = known.get(name)
            if before is not None and before.acquired is None:
                raise _taken(before)
            if before is None:
                kept = [skill for skill in known.values() if skill.acquired is not None]
                failing = [each for each in kept if each.acquired is not None and each.acquired.status != "active"]
                await self._make_room(user_id, kept, failing, MOST_ACQUIRED, "acquired skills that work")
            version = 1 if before is None or before.acquired is None else before.acquired.version + 1
            acquired = msgspec.structs.replace(acquired, version=version)
            return await self._keep(drafts.learned(user_id, name, description, acquired, now_ms()))

    async def ran(self, user_id: str, skill: Skill, *, ok: bool) -> Acquired:
        """Count a run of an acquired skill: a failure counts towards its end, a success begins the count anew."""
        async with self._door:
            now = (await self._owned(user_id)).get(skill.name, skill).acquired
            assert now is not None, "only acquired skills are counted"
            failures = 0 if ok else now.failures + 1
            after = msgspec.structs.replace(now, uses=now.uses + 1, failures=failures, status=standing(failures))
            await self._keep(drafts.learned(user_id, skill.name, skill.description, after, now_ms()))
            return after

    async def propose(self, user_id: str, name: str, description: str, composed: Composed) -> Skill:
        """Keep a composed skill that nobody has approved yet, in the place of an earlier one of the name."""
        async with self._door:
            known = await self.of(user_id)
            before = known.get(name)
            if before is not None and before.composed is None:
                raise _taken(before)
            if before is None:
                kept = [skill for skill in known.values() if skill.composed is not None]
                open_ = [skill for skill in kept if not skill.offered]
                await self._make_room(user_id, kept, open_, MOST_COMPOSED, "approved composed skills")
            return await self._keep(drafts.proposed(user_id, name, description, composed, now_ms()))

    async def used(self, user_id: str, name: str, composed: Composed, *, ok: bool) -> Composed:
        """Count a use of a composed skill, as of code; one that was changed meanwhile is not the one that was used."""
        async with self._door:
            skill = (await self._owned(user_id)).get(name)
            now = None if skill is None else skill.composed
            if skill is None or now is None or not skill.offered or now.steps != composed.steps:
                return composed
            failures = 0 if ok else now.failures + 1
            stands = standing(failures)
            after = msgspec.structs.replace(
                now, uses=now.uses + 1, failures=failures, status="approved" if stands == "active" else stands
            )
            await self._keep(drafts.proposed(user_id, name, skill.description, after, now_ms()))
            return after

    async def approve(self, user_id: str, name: str) -> Skill:
        """A person lets a composed skill be used."""
        async with self._door:
            skill = (await self._owned(user_id)).get(name)
            if skill is None or skill.composed is None:
                raise EngineError(ErrorCode.NOT_FOUND, "There is no composed skill of this name to approve.")
            approved = msgspec.structs.replace(skill.composed, status="approved", failures=0)
            return await self._keep(drafts.proposed(user_id, name, skill.description, approved, now_ms()))

    async def _owned(self, user_id: str) -> dict[str, Skill]:
        """The user's own skills, read once: whatever changes them passes here."""
        known = self._own.get(user_id)
        if known is None:
            changes = self._changes
            known = {row.name: drafts.skill_of(row) for row in await self._brain.skills(user_id)}
            if changes == self._changes:
                self._own[user_id] = known
            if len(self._own) > _MOST_USERS:
                self._own.popitem(last=False)
        return known

    async def _row(self, user_id: str, name: str) -> SkillRow:
        """The row of a skill that the user may change."""
        row = next((row for row in await self._brain.skills(user_id) if row.name == name), None)
        if row is not None:
            return row
        if name in self._shared:
            raise EngineError(
                ErrorCode.PERMISSION_DENIED,
                "This skill belongs to the engine, for everybody; only your own can be changed.",
            )
        raise EngineError(ErrorCode.NOT_FOUND, "There is no such skill. GET /skills lists them.")

    async def _keep(self, row: SkillRow) -> Skill:
        await self._brain.put(row)
        self._changed(row.user_id)
        return (await self._owned(row.user_id))[row.name]

    def look_again(self) -> None:
        """Another replica has changed skills of users: they are read anew when they are needed."""
        self._changes += 1
        self._own.clear()

    def changed(self, user_id: str) -> None:
        """Somebody else has changed a user's skills: they are read anew when they are needed."""
        self._changed(user_id)

    def _changed(self, user_id: str) -> None:
        self._changes += 1
        self._own.pop(user_id, None)

    async def _make_room(self, user_id: str, kept: list[Skill], spare: list[Skill], most: int, what: str) -> None:
        """Let the least used of those that can be spared go, if there are as many as there may be. What works, or what
        a person approved, is never given up for something new."""
        if len(kept) < most:
            return
        if not spare:
            raise EngineError(ErrorCode.INVALID_REQUEST, f"There are {most} {what}; delete some first.")
        gone = min(spare, key=lambda skill: (_uses(skill), skill.name)).name
        await self._brain.drop_skill(user_id, gone)
        self._changed(user_id)
        await asyncio.to_thread(self.copies.drop, user_id, gone)

    def _check_room(self, own: dict[str, Skill], more: int = 1) -> None:
        if len(own) + more > MOST_OWN:
            raise EngineError(
                ErrorCode.INVALID_REQUEST,
                f"There can be {MOST_OWN} skills of your own, and there are {len(own)}. Delete some.",
            )


def _uses(skill: Skill) -> int:
    made = skill.acquired or skill.composed
    return 0 if made is None else made.uses


def _taken(skill: Skill) -> EngineError:
    problem = f"is {skill.name!r}, which is the name of a skill of the {_OWNERS[skill.source]}; choose another"
    return EngineError(
        ErrorCode.INVALID_REQUEST, f"`name` {problem}.", {"fields": [{"field": "name", "problem": problem}]}
    )


_OWNERS: Final = {
    "platform": "platform",
    "operator": "operator",
    "custom": "user",
    "acquired": "agent",
    "composed": "agent",
    "workspace": "workspace",
}
