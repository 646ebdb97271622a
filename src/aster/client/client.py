"""The Python SDK: an engine's routes as typed methods, and streams that survive whatever the network does.

`execute` hands on every event of a turn exactly once and ends with the turn, through cuts, drains and restarts. An
engine that has answered before is waited for; one that never did is reported at once.
"""

import os
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from types import TracebackType
from typing import Any, Self, Unpack
from urllib.parse import quote

from aster.client.agents import AgentsClient
from aster.client.assets import AssetsClient
from aster.client.context import ContextClient
from aster.client.deciding import Decision, Desk, OnRequest
from aster.client.feedback import FeedbackClient
from aster.client.files import FilesClient
from aster.client.follow import OnWait, Patience, Reader, ThreadEvent
from aster.client.goals import GoalsClient
from aster.client.learning import LearningClient
from aster.client.memory import MemoryClient
from aster.client.permissions import PermissionsClient
from aster.client.projects import ProjectsClient
from aster.client.records import (
    About,
    Answered,
    ArtifactList,
    ArtifactSummary,
    Cancelled,
    Compacted,
    Deleted,
    EventPage,
    Forked,
    Health,
    PendingList,
    PendingRequest,
    PlanAnswer,
    PlanSummary,
    RawPage,
    RecurringList,
    RecurringUnknown,
    Reloaded,
    ReplicaList,
    ReplicaSummary,
    TaskDetail,
    TaskPage,
    TaskSummary,
    ToolList,
    ToolSummary,
    UncertaintyList,
    UncertaintySummary,
    Undone,
)
from aster.client.replays import ReplaysClient
from aster.client.runtime import RuntimeClient
from aster.client.schedules import SchedulesClient
from aster.client.skills import SkillsClient
from aster.client.submission import Submission, TurnOptions
from aster.client.teams import TeamsClient
from aster.client.transcript import Transcript
from aster.client.usage import UsageClient
from aster.client.wire import Wire
from aster.client.work import WorkClient
from aster.client.workflows import WorkflowsClient
from aster.client.worktrees import WorktreesClient
from aster.contracts.blocks import MediaBlock
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.events import Phase, TaskLifecycle
from aster.contracts.model import to_builtins
from aster.contracts.permissions import GrantScope, PermissionMode

DEFAULT_URL = "http://127.0.0.1:8000"


class AsterClient:
    """An engine at `url`; left out, the one that ENGINE_URL and ENGINE_KEY name, or this machine's. A lost one is
    looked for `patience` seconds; one silent for `silence` seconds is lost."""

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        patience: float = 60.0,
        silence: float = 45.0,
        on_wait: OnWait | None = None,
    ) -> None:
        if url is None:
            url, key = os.environ.get("ENGINE_URL") or DEFAULT_URL, key or os.environ.get("ENGINE_KEY")
        self._wire = Wire(url, key, silence)
        self.permissions = PermissionsClient(self._wire)
        self.memory = MemoryClient(self._wire)
        self.context = ContextClient(self._wire)
        self.assets = AssetsClient(self._wire)
        self.feedback = FeedbackClient(self._wire)
        self.learning = LearningClient(self._wire)
        self.work = WorkClient(self._wire)
        self.teams = TeamsClient(self._wire)
        self.workflows = WorkflowsClient(self._wire)
        self.worktrees = WorktreesClient(self._wire)
        self.goals = GoalsClient(self._wire)
        self.skills = SkillsClient(self._wire)
        self.replays = ReplaysClient(self._wire)
        self.schedules = SchedulesClient(self._wire)
        self.projects = ProjectsClient(self._wire)
        self.runtime = RuntimeClient(self._wire, patience, on_wait)
        self.agents = AgentsClient(self._wire)
        self.files = FilesClient(self._wire)
        self.usage = UsageClient(self._wire)
        self._patience = patience
        self._on_wait = on_wait

    @property
    def url(self) -> str:
        return self._wire.url

    async def close(self) -> None:
        await self._wire.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def execute(self, message: str, task_id: str, **options: Unpack[TurnOptions]) -> AsyncGenerator[ThreadEvent]:
        """Post a message and follow the turn that takes it to its end. Leaving early does not stop the turn. Without
        `subagents`, what those do is left out."""
        on_request = options.pop("on_request", None)
        patience = self._waiting()
        submission = Submission(self._wire, task_id, message, to_builtins(options), patience)
        return self._attended(submission.run(), patience, on_request)

    async def ask(self, message: str, task_id: str, **options: Unpack[TurnOptions]) -> str:
        """Post a message and wait for what the turn ends with. A turn that failed is raised; one that was cancelled
        gives what was said by then."""
        transcript = Transcript()
        async with aclosing(self.execute(message, task_id, **options)) as events:
            async for event in events:
                transcript.apply(event)
                if isinstance(event, TaskLifecycle) and event.phase == "dequeued":
                    raise EngineError(ErrorCode.TASK_NOT_RUNNING, "The message was dropped before its turn came.")
        if transcript.phase is Phase.ERRORED and (failed := transcript.error) is not None:
            raise EngineError(failed.error, failed.message, failed.details)
        return transcript.answer()

    def replay(
        self, task_id: str, after_seq: int = 0, *, subagents: bool = True, on_request: OnRequest | None = None
    ) -> AsyncGenerator[ThreadEvent]:
        """Everything on a thread after `after_seq`, then what its running turn adds, until that ends."""
        patience = self._waiting()
        reader = Reader(self._wire, task_id, after_seq, patience, subagents=subagents)
        return self._attended(reader.resume(), patience, on_request)

    def watch(
        self, task_id: str, after_seq: int = 0, *, subagents: bool = True, on_request: OnRequest | None = None
    ) -> AsyncGenerator[ThreadEvent]:
        """Everything on a thread after `after_seq`, through all its turns, until the loop is left."""
        patience = self._waiting()
        reader = Reader(self._wire, task_id, after_seq, patience, subagents=subagents)
        return self._attended(reader.watch(), patience, on_request)

    def _waiting(self) -> Patience:
        return Patience(self._wire, self._patience, self._on_wait)

    def _attended(
        self, events: AsyncGenerator[ThreadEvent], patience: Patience, on_request: OnRequest | None
    ) -> AsyncGenerator[ThreadEvent]:
        return events if on_request is None else Desk(self._wire, patience, on_request).attend(events)

    async def cancel(self, task_id: str, *, clear_inbox: bool = False) -> Cancelled:
        body = {"task_id": task_id, "clear_inbox": clear_inbox}
        return await self._wire.ask(Cancelled, "POST", "/execute/cancel", body=body)

    async def respond(
        self,
        answer: str,
        *,
        request_id: str | None = None,
        task_id: str | None = None,
        feedback: str | None = None,
        content_blocks: Sequence[MediaBlock] = (),
        scope: GrantScope | None = None,
        expires_in_seconds: int | None = None,
    ) -> Answered:
        """Answer a question by its request, or the oldest open one of a task."""
        decision = Decision(
            answer=answer,
            feedback=feedback,
            content_blocks=tuple(content_blocks),
            scope=scope,
            expires_in_seconds=expires_in_seconds,
        )
        body = decision.body(request_id=request_id, task_id=task_id)
        return await self._wire.ask(Answered, "POST", "/hitl/respond", body=body)

    async def pending(self, task_id: str | None = None) -> tuple[PendingRequest, ...]:
        found = await self._wire.ask(PendingList, "GET", "/hitl/pending", params={"task_id": task_id})
        return found.pending

    async def tasks(
        self,
        *,
        limit: int = 50,
        before: str | None = None,
        status: str | None = None,
        search: str | None = None,
        parent: str | None = None,
    ) -> TaskPage:
        """One page, newest first; with `parent`, the tasks of that one's sub-agents."""
        params = {"limit": limit, "before": before, "status": status, "search": search, "parent": parent}
        return await self._wire.ask(TaskPage, "GET", "/tasks", params=params)

    async def task(self, task_id: str) -> TaskDetail:
        return await self._wire.ask(TaskDetail, "GET", _path(task_id))

    async def events(
        self,
        task_id: str,
        *,
        after_seq: int = 0,
        limit: int = 200,
        types: Sequence[str] = (),
        subagents: bool = True,
    ) -> EventPage:
        """One page of a thread."""
        params = {"after_seq": after_seq, "limit": limit, "types": ",".join(types) or None}
        params |= {} if subagents else {"subagents": "false"}
        page = await self._wire.ask(RawPage, "GET", f"{_path(task_id)}/events", params=params)
        return page.read()

    async def thread(
        self, task_id: str, *, after_seq: int = 0, types: Sequence[str] = ()
    ) -> AsyncGenerator[ThreadEvent]:
        """A thread as it stands, page after page."""
        at, before = after_seq, -1
        while at > before:
            page = await self.events(task_id, after_seq=at, types=types)
            for event in page.events:
                yield event
            before, at = at, page.next_after_seq if page.next_after_seq < page.head_seq else at

    async def rename(self, task_id: str, title: str) -> TaskSummary:
        """What the task is listed as."""
        return await self._wire.ask(TaskSummary, "PATCH", _path(task_id), body={"title": title})

    async def fork(self, task_id: str, seq: int, new_task_id: str | None = None) -> Forked:
        """A new task that shares this one's thread up to `seq`."""
        body: dict[str, Any] = {"seq": seq}
        if new_task_id is not None:
            body["task_id"] = new_task_id
        return await self._wire.ask(Forked, "POST", f"{_path(task_id)}/fork", body=body)

    async def plan(self, task_id: str) -> PlanSummary | None:
        """The task's newest plan, if a turn of it made one."""
        return (await self._wire.ask(PlanAnswer, "GET", f"{_path(task_id)}/plan")).plan

    async def uncertainties(self, task_id: str, *, unresolved: bool = False) -> tuple[UncertaintySummary, ...]:
        """What the task's agent does not know or takes for granted, newest first."""
        params = {"unresolved": "true" if unresolved else None}
        found = await self._wire.ask(UncertaintyList, "GET", f"{_path(task_id)}/uncertainties", params=params)
        return found.uncertainties

    async def recurring_uncertainties(self, *, limit: int = 20) -> tuple[RecurringUnknown, ...]:
        """Unknowns that keep coming up, over all tasks."""
        return (await self._wire.ask(RecurringList, "GET", "/uncertainties", params={"limit": limit})).recurring

    async def trajectory(self, task_id: str, turn_id: str) -> dict[str, Any]:
        """The record of an ended turn: messages, calls, usage."""
        path = f"{_path(task_id)}/turns/{quote(turn_id, safe='')}/trajectory"
        return await self._wire.ask(dict[str, Any], "GET", path)

    async def artifacts(self, task_id: str) -> tuple[ArtifactSummary, ...]:
        """What the task's tools produced that was too long for the conversation, newest first."""
        return (await self._wire.ask(ArtifactList, "GET", f"{_path(task_id)}/artifacts")).artifacts

    async def artifact(self, task_id: str, artifact_id: str) -> bytes:
        """An artifact, whole."""
        path = f"{_path(task_id)}/artifacts/{quote(artifact_id, safe='')}"
        async with self._wire.open("GET", path) as response:
            return b"".join([chunk async for chunk in self._wire.chunks(response)])

    async def undo(self, task_id: str, turn_id: str | None = None, *, force: bool = False) -> Undone:
        """Take back what a turn did to files; without one, the newest turn that changed any."""
        body: dict[str, Any] = {"force": force} if turn_id is None else {"force": force, "turn_id": turn_id}
        return await self._wire.ask(Undone, "POST", f"{_path(task_id)}/undo", body=body)

    async def rpc(
        self,
        method: str,
        params: dict[str, Any],
        *,
        task_id: str | None = None,
        turn_id: str | None = None,
        permission_mode: PermissionMode | None = None,
        unattended: bool = False,
    ) -> dict[str, Any]:
        """Call a tool, a memory operation or a skill by name. One that needs a person raises `HITL_REQUIRED`: answer
        its `request_id`, then call again with its `turn_id`."""
        said: dict[str, Any] = {
            "method": method,
            "params": params,
            "task_id": task_id,
            "turn_id": turn_id,
            "permission_mode": permission_mode,
            "unattended": unattended or None,
        }
        body = {name: value for name, value in said.items() if value is not None}
        return (await self._wire.ask(dict[str, dict[str, Any]], "POST", "/rpc", body=body))["result"]

    async def compact(self, task_id: str, focus: str | None = None) -> Compacted:
        """Have the model shown a summary of the task so far, which keeps `focus` above all."""
        body = {} if focus is None else {"focus": focus}
        return await self._wire.ask(Compacted, "POST", f"{_path(task_id)}/compact", body=body)

    async def delete(self, task_id: str) -> Deleted:
        return await self._wire.ask(Deleted, "DELETE", _path(task_id))

    async def health(self) -> Health:
        return await self._wire.ask(Health, "GET", "/health", accept=frozenset({503}))

    async def about(self) -> About:
        return await self._wire.ask(About, "GET", "/about")

    async def replicas(self) -> tuple[ReplicaSummary, ...]:
        """The engine processes that share the work, the oldest first; for the operator."""
        return (await self._wire.ask(ReplicaList, "GET", "/replicas")).replicas

    async def tools(self) -> tuple[ToolSummary, ...]:
        """The tools models can call, in the order they see them."""
        return (await self._wire.ask(ToolList, "GET", "/tools")).tools

    async def metrics(self) -> str:
        """The engine's metrics in the Prometheus text format."""
        async with self._wire.open("GET", "/metrics") as response:
            return b"".join([chunk async for chunk in self._wire.chunks(response)]).decode()

    async def reload_catalog(self) -> Reloaded:
        """Have the engine read its catalog again; for the operator."""
        return await self._wire.ask(Reloaded, "POST", "/admin/reload-catalog")


def _path(task_id: str) -> str:
    return f"/tasks/{quote(task_id, safe='')}"
