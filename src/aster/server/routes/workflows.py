"""Workflows: those the operator has registered, and runs of them."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Response
from pydantic import BaseModel, Field, StrictBool

from aster.brain.workflows import CallStatus, RunStatus, WorkflowCall, WorkflowRun
from aster.contracts.errors import ErrorCode
from aster.contracts.model import decode
from aster.contracts.permissions import PermissionMode
from aster.engine_core.engine import Engine
from aster.engine_core.workflows.desk import RunWish, WorkflowDesk
from aster.infra.clock import iso_ms
from aster.server.bodies import LARGEST, TaskId, warnings
from aster.server.errors import refusals
from aster.server.media import JsonObject, Part
from aster.server.routes.memory import BODY
from aster.server.visit import KEYED, Serving, Visiting
from aster.utility_directory.workflow_steps import Workflow

router = APIRouter(prefix="/workflows", tags=["work"], dependencies=KEYED)

Name = Annotated[str, Path(max_length=64, description="The workflow's name.")]
RunId = Annotated[str, Path(max_length=128, description="The run's id.")]
_BEGUN = refusals(
    *BODY,
    ErrorCode.NOT_FOUND,
    ErrorCode.WORK_CONFLICT,
    ErrorCode.TASK_BUSY,
    ErrorCode.HITL_REQUIRED,
    ErrorCode.PERMISSION_DENIED,
    ErrorCode.BUDGET_EXCEEDED,
    ErrorCode.SLOTS_EXHAUSTED,
    ErrorCode.DRAINING,
    ErrorCode.STORAGE_UNAVAILABLE,
)


class WorkflowEntry(BaseModel):
    """A workflow that can be run."""

    name: str
    description: str
    args: dict[str, Any] = Field(description="The JSON Schema of its arguments.")
    max_agents: int | None
    max_usd: float | None
    max_tokens: int | None

    @classmethod
    def of(cls, workflow: Workflow) -> "WorkflowEntry":
        return cls.model_validate(workflow, from_attributes=True)


class WorkflowList(BaseModel):
    workflows: list[WorkflowEntry]


class CallAnswer(BaseModel):
    """What an agent was asked for in a run."""

    call_key: str = Field(description="The hash of what was asked: the same question is asked once.")
    label: str
    phase: str
    status: CallStatus
    attempt: int
    task_id: str = Field(description="Where the agent works; its thread has all it did.")
    problem: str
    cost_usd: float
    tokens: int

    @classmethod
    def of(cls, call: WorkflowCall) -> "CallAnswer":
        fields = {name: getattr(call, name) for name in cls.model_fields if name != "task_id"}
        return cls.model_validate({**fields, "task_id": call.child_task_id})


class WorkflowRunAnswer(BaseModel):
    """A run, as it stands."""

    run_id: str
    workflow: str
    task_id: str = Field(description="The task on whose thread it is told.")
    status: RunStatus
    args: dict[str, Any]
    attempts: int = Field(description="How often it was taken up.")
    phase: str
    agents: int = Field(description="Agents begun since it was last taken up.")
    cached: int = Field(description="Calls that were not made again.")
    cost_usd: float
    tokens: int
    result: Any = None
    problem: str
    created_at: str
    updated_at: str
    calls: list[CallAnswer] | None = Field(None, description="The journal, when one run is asked for.")

    @classmethod
    def of(cls, run: WorkflowRun, calls: list[WorkflowCall] | None = None) -> "WorkflowRunAnswer":
        plain = ("run_id", "workflow", "task_id", "status", "attempts", "phase", "agents", "cached", "cost_usd")
        return cls.model_validate(
            {
                **{name: getattr(run, name) for name in (*plain, "tokens", "problem")},
                "args": decode(run.args, dict[str, Any]),
                "result": decode(run.result, object) if run.result else None,
                "created_at": iso_ms(run.created_at),
                "updated_at": iso_ms(run.updated_at),
                "calls": None if calls is None else [CallAnswer.of(call) for call in calls],
            }
        )


class RunList(BaseModel):
    runs: list[WorkflowRunAnswer]


class ResumeBody(Part):
    args: JsonObject = Field(
        default_factory=dict[str, Any], description="Those it was begun with, or nothing; others are refused."
    )
    permission_mode: PermissionMode | None = Field(None, description="As in `/execute`.")
    unattended: StrictBool = Field(False, description="Nobody is there to be asked.")


class RunBody(Part):
    args: JsonObject = Field(default_factory=dict[str, Any], description="What it is to work on.")
    task_id: TaskId | None = Field(None, description="The task to run it in; left out, it gets its own.")
    permission_mode: PermissionMode | None = Field(None, description="As in `/execute`.")
    unattended: StrictBool = Field(False, description="Nobody is there to be asked.")


@router.get("", summary="List the workflows there are", response_model=WorkflowList, responses=refusals())
async def workflows(engine: Serving) -> WorkflowList:
    """The operator registers them, in `CATALOG_DIR/workflows`."""
    return WorkflowList(workflows=[WorkflowEntry.of(one) for one in _desk(engine).registered.values()])


@router.post(
    "/{name}/runs", status_code=202, summary="Run a workflow", response_model=WorkflowRunAnswer, responses=_BEGUN
)
async def start_run(
    name: Name, body: RunBody, engine: Serving, visit: Visiting, response: Response
) -> WorkflowRunAnswer:
    """Answers when it has begun. What happens is on the thread of its task; the result is in the run."""
    response.headers.update(warnings(body))
    wish = RunWish(
        workflow=name,
        args=body.args,
        task_id=body.task_id,
        permission_mode=body.permission_mode,
        unattended=body.unattended,
        request_id=visit.request_id,
    )
    return WorkflowRunAnswer.of(await _desk(engine).start(visit.user_id, wish))


@router.get("/runs", summary="List runs", response_model=RunList, responses=refusals(ErrorCode.INVALID_REQUEST))
async def list_runs(
    engine: Serving,
    visit: Visiting,
    task_id: Annotated[TaskId | None, Query(description="Those of one task.")] = None,
    before: Annotated[
        int | None, Query(ge=0, le=LARGEST, description="Those begun before this time (milliseconds since 1970).")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> RunList:
    """Newest first."""
    found = await engine.brain.workflows.runs(visit.user_id, limit=limit, task_id=task_id, before=before)
    return RunList(runs=[WorkflowRunAnswer.of(run) for run in found])


@router.get(
    "/runs/{run_id}",
    summary="See a run",
    response_model=WorkflowRunAnswer,
    responses=refusals(ErrorCode.NOT_FOUND, ErrorCode.INVALID_REQUEST),
)
async def get_run(run_id: RunId, engine: Serving, visit: Visiting) -> WorkflowRunAnswer:
    """With its journal."""
    run = await _desk(engine).found(visit.user_id, run_id)
    return WorkflowRunAnswer.of(run, await engine.brain.workflows.calls(visit.user_id, run_id))


@router.post(
    "/runs/{run_id}/resume",
    status_code=202,
    summary="Go on with a run",
    response_model=WorkflowRunAnswer,
    responses=_BEGUN,
)
async def resume_run(
    run_id: RunId, body: ResumeBody, engine: Serving, visit: Visiting, response: Response
) -> WorkflowRunAnswer:
    """One that failed, was cancelled or was cut off. Agents that have answered are not begun again, as long as they
    would be asked the same."""
    response.headers.update(warnings(body))
    wish = RunWish(
        workflow="",
        args=body.args,
        permission_mode=body.permission_mode,
        unattended=body.unattended,
        request_id=visit.request_id,
    )
    return WorkflowRunAnswer.of(await _desk(engine).resume(visit.user_id, run_id, wish))


@router.post(
    "/runs/{run_id}/cancel",
    status_code=202,
    summary="Cancel a run",
    response_model=WorkflowRunAnswer,
    responses=refusals(ErrorCode.NOT_FOUND, ErrorCode.INVALID_REQUEST, ErrorCode.WORK_CONFLICT),
)
async def cancel_run(run_id: RunId, engine: Serving, visit: Visiting) -> WorkflowRunAnswer:
    """Its agents are stopped, and nothing more is begun; it is `cancelled` within seconds."""
    return WorkflowRunAnswer.of(await _desk(engine).cancel(visit.user_id, run_id))


def _desk(engine: Engine) -> WorkflowDesk:
    return WorkflowDesk(engine.services, engine.coordinator)
