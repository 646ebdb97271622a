"""`ProjectStore` in SQL: what changes goes to the one writer as a deed, what looks goes to the readers."""

import asyncio
from collections.abc import Sequence

from aster.brain.projects import ProjectOrder, ProjectOutcome
from aster.brain.records import ThreadKey
from aster.brain.sql.running import Reads, Writes
from aster.brain.sql.work import projects
from aster.brain.sql.work.projects_deeds import SqlProjectDeed
from aster.brain.unit import Conflict, Present, Unit
from aster.contracts.events import Event
from aster.contracts.projects import (
    Advance,
    Project,
    ProjectArtifact,
    ProjectNode,
    ProjectRecord,
    ProjectStatus,
)


class SqlProjects:
    def __init__(self, writer: Writes, readers: Reads) -> None:
        self._writer = writer
        self._readers = readers

    def deed(self, order: ProjectOrder) -> SqlProjectDeed:
        return SqlProjectDeed(order)

    async def do(self, order: ProjectOrder, key: ThreadKey | None = None) -> ProjectOutcome:
        deed = SqlProjectDeed(order)
        try:
            await self._submit(deed, key)
        except Conflict:  # the thread is gone; the change is made all the same
            await self._submit(deed, None)
        return deed.outcome

    def _submit(self, deed: SqlProjectDeed, key: ThreadKey | None) -> "asyncio.Future[list[Event]]":
        done: asyncio.Future[list[Event]] = asyncio.get_running_loop().create_future()
        guard = None if key is None else Present()
        self._writer.submit(Unit(key, None, (), (), guard, done, deed=deed))
        return done

    async def project(self, user_id: str, project_id: str) -> Project | None:
        return await self._readers.run(projects.project, user_id, project_id)

    async def titled(self, user_id: str, title: str) -> Project | None:
        return await self._readers.run(projects.titled, user_id, title)

    async def projects(
        self, user_id: str, *, limit: int, before: int | None = None, status: ProjectStatus | None = None
    ) -> list[Project]:
        return await self._readers.run(projects.projects, user_id, limit=limit, before=before, status=status)

    async def active(self, key: ThreadKey) -> Project | None:
        return await self._readers.run(projects.active, key)

    async def tasks(self, user_id: str, project_id: str) -> list[str]:
        return await self._readers.run(projects.tasks, user_id, project_id)

    async def nodes(self, user_id: str, project_id: str) -> list[ProjectNode]:
        return await self._readers.run(projects.nodes, user_id, project_id)

    async def artifacts(
        self,
        user_id: str,
        project_id: str,
        *,
        limit: int,
        before: int | None = None,
        item_ids: Sequence[str] | None = None,
    ) -> list[ProjectArtifact]:
        return await self._readers.run(
            projects.artifacts, user_id, project_id, limit=limit, before=before, item_ids=item_ids
        )

    async def results(self, user_id: str, project_id: str, limit: int) -> list[ProjectArtifact]:
        return await self._readers.run(projects.results, user_id, project_id, limit)

    async def records(
        self, user_id: str, project_id: str, *, limit: int, before: int | None = None, kind: str | None = None
    ) -> list[ProjectRecord]:
        return await self._readers.run(projects.records, user_id, project_id, limit=limit, before=before, kind=kind)

    async def advances(
        self, user_id: str, project_id: str, *, limit: int, before: int | None = None
    ) -> list[Advance]:
        return await self._readers.run(projects.advances, user_id, project_id, limit=limit, before=before)

    async def open_advances(self, now: int, limit: int) -> list[Advance]:
        return await self._readers.run(projects.open_advances, now, limit)

    async def look_later(self, advance: Advance, look_at: int, waits_ms: int = 0) -> bool:
        return bool(await self._writer.run(lambda db: projects.look_later(db, advance, look_at, waits_ms)))

    async def suggestible(self, key: ThreadKey, turns: int) -> bytes | None:
        return await self._readers.run(projects.suggestible, key, turns)
