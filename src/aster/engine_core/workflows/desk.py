"""Workflows as people have them run: a run is begun or resumed as a turn of its own that is one call, and cancelled by
asking whoever is at it. A call like that goes the way of every call: permissions, budgets, a crash, another replica."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from aster.brain.fanout import Subscription
from aster.brain.records import ThreadKey
from aster.brain.workflows import WorkflowRun
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.events import ErrorEvent, Phase, ThreadLifecycle, ToolResult, WorkflowUpdate, decode_event
from aster.contracts.model import Contract, decode
from aster.contracts.permissions import PermissionMode
from aster.contracts.tools import ToolCall
from aster.engine_core.coordinator import Coordinator
from aster.engine_core.orders import Order
from aster.engine_core.services import Services
from aster.infra.ids import new_id
from aster.utility_directory.run_workflow import NAME, RunWorkflow
from aster.utility_directory.workflow_steps import Workflow
from aster.work.workflows.journal import digest

METHOD: Final = "workflow"
_PATIENCE: Final = 30.0
_CODES: Final = frozenset(code.value for code in ErrorCode)


class RunWish(Contract):
    """What a person wants run, and how."""

    workflow: str
    args: dict[str, Any] = {}
    task_id: str | None = None
    resume: str | None = None
    permission_mode: PermissionMode | None = None
    unattended: bool = False
    request_id: str | None = None


class WorkflowDesk:
    def __init__(self, services: Services, coordinator: Coordinator) -> None:
        self._services = services
        self._coordinator = coordinator

    @property
    def registered(self) -> Mapping[str, Workflow]:
        """The workflows there are at this moment."""
        tool = self._tool()
        return {} if tool is None else tool.workflows

    async def start(self, user_id: str, wish: RunWish) -> WorkflowRun:
        """Begin a run, or go on with one; it is under way when this returns."""
        tool = self._tool()
        if tool is None:
            raise EngineError(ErrorCode.NOT_FOUND, "There are no workflows: CATALOG_DIR has none.")
        tool.arguments(wish.workflow, wish.args)
        given: dict[str, Any] = {"workflow": wish.workflow, "args": wish.args}
        task_id = wish.task_id or new_id(METHOD)
        order = Order(
            task_id=task_id,
            message=f"[The workflow {wish.workflow} was {'resumed' if wish.resume else 'started'}.]",
            request_id=wish.request_id,
            permission_mode=wish.permission_mode,
            unattended=wish.unattended,
            method=METHOD,
            call=ToolCall(
                id=new_id("call"), name=NAME, input=given | ({"resume": wish.resume} if wish.resume else {})
            ),
        )
        ticket = await self._coordinator.submit(user_id, order)
        run_id = await _begun(ThreadKey(user_id, task_id), ticket.turn_id, ticket.subscription)
        return await self.found(user_id, run_id)

    async def resume(self, user_id: str, run_id: str, wish: RunWish) -> WorkflowRun:
        """Go on with a run; `wish` has its arguments again, or none."""
        run = await self.found(user_id, run_id)
        args = decode(run.args, dict[str, Any])
        if wish.args and digest(wish.args) != run.args_digest:
            raise _refused(
                run, "other_args", "was begun with other arguments; resume it with those, or start another"
            )
        if run.status == "running":
            raise _refused(run, "running", "is being run at this moment; wait for its end, or cancel it first")
        again = msgspec.structs.replace(wish, workflow=run.workflow, args=args, task_id=run.task_id, resume=run_id)
        return await self.start(user_id, again)

    async def cancel(self, user_id: str, run_id: str) -> WorkflowRun:
        """Have a run end: its agents are stopped, and nothing more is begun."""
        run = await self.found(user_id, run_id)
        if not await self._services.brain.workflows.ask_to_stop(user_id, run_id):
            raise _refused(run, "ended", "is not being run")
        return await self.found(user_id, run_id)

    async def found(self, user_id: str, run_id: str) -> WorkflowRun:
        run = await self._services.brain.workflows.run(user_id, run_id)
        if run is None:
            raise EngineError(ErrorCode.NOT_FOUND, f"There is no run {run_id[:80]!r}.")
        return run

    def _tool(self) -> RunWorkflow | None:
        found = self._services.tools.registry.get(NAME)
        return found.tool if found is not None and isinstance(found.tool, RunWorkflow) else None


async def _begun(key: ThreadKey, turn_id: str, subscription: Subscription) -> str:
    """The id of the run that a turn is at, once it is; raises what keeps it from that."""
    failure: ErrorEvent | None = None
    with subscription:
        while frames := await subscription.next(_PATIENCE):
            for frame in frames:
                if frame.turn_id != turn_id:
                    continue
                match decode_event(frame.json):
                    case WorkflowUpdate(run_id=run_id):
                        return run_id
                    case ToolResult(error=str(reason), output=text):
                        code = ErrorCode(reason) if reason in _CODES else ErrorCode.PERMISSION_DENIED
                        raise EngineError(code, text.removeprefix("Error: "), {"task_id": key.task_id})
                    case ErrorEvent() as error:
                        failure = error
                    case ThreadLifecycle(phase=Phase.SUSPENDED):
                        where = {"task_id": key.task_id, "turn_id": turn_id}
                        message = "A person has to allow this first: answer with POST /hitl/respond."
                        raise EngineError(ErrorCode.HITL_REQUIRED, message, where)
                    case ThreadLifecycle(phase=phase) if phase.final:
                        raise _ended(key, failure)
                    case _:
                        pass
    raise EngineError(ErrorCode.SLOTS_EXHAUSTED, "The run waits for a free slot; it begins when there is one.")


def _ended(key: ThreadKey, failure: ErrorEvent | None) -> EngineError:
    code = ErrorCode.INTERNAL if failure is None else ErrorCode(failure.error)
    message = "The run ended before it began." if failure is None else failure.message
    return EngineError(code, message, {"task_id": key.task_id})


def _refused(run: WorkflowRun, reason: str, why: str) -> EngineError:
    details = {"run_id": run.run_id, "reason": reason}
    return EngineError(ErrorCode.WORK_CONFLICT, f"The run {run.run_id} {why}.", details)
