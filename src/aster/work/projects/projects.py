"""The projects of an engine: makes desks for those who work with them."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from aster.brain.projects import ProjectOrder, ProjectOutcome
from aster.brain.protocol import Brain
from aster.brain.records import ThreadKey
from aster.brain.unit import Deed
from aster.brain.work import Actor
from aster.infra.secrets import Secrets
from aster.infra.settings import Settings
from aster.work.projects.desk import ProjectDesk

Commit: TypeAlias = Callable[[Deed], Awaitable[None]]
"""Does a deed in the commit that tells of it on a thread."""


class Projects:
    """`begun` is set when an advance waits for its turn, for whoever sees to that."""

    def __init__(self, brain: Brain, settings: Settings, secrets: Secrets) -> None:
        self._store = brain.projects
        self._settings = settings
        self._secrets = secrets
        self.begun = asyncio.Event()

    def agent(self, actor: Actor, commit: Commit) -> ProjectDesk:
        """The desk of an agent in its turn: what it changes is told on its thread, in the same commit."""

        async def do(order: ProjectOrder, task_id: str) -> ProjectOutcome:
            del task_id
            deed = self._store.deed(order)
            await commit(deed)
            return deed.outcome

        return ProjectDesk(
            store=self._store,
            settings=self._settings,
            actor=actor,
            do=do,
            clean=lambda text: self._secrets.clean(text, "model"),
            begun=self.begun.set,
        )

    def person(self, user_id: str) -> ProjectDesk:
        """The desk of a person: what is about a task is told on its thread."""

        async def do(order: ProjectOrder, task_id: str) -> ProjectOutcome:
            return await self._store.do(order, ThreadKey(user_id, task_id) if task_id else None)

        return ProjectDesk(
            store=self._store,
            settings=self._settings,
            actor=Actor(user_id=user_id, name=user_id, person=True),
            do=do,
            clean=lambda text: self._secrets.clean(text, "person"),
            begun=self.begun.set,
        )
