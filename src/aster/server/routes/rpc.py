"""`POST /rpc`: tools, memory and skills by name, without a model in between.

What a call may do is decided as in a turn: by the same rules, grants, hooks and people, and written down on a thread.
"""

from typing import Any

from fastapi import APIRouter, Response
from pydantic import BaseModel, Field, StrictBool

from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.permissions import PermissionMode
from aster.engine_core.engine import Engine
from aster.infra.clock import now_ms
from aster.server import rpc
from aster.server.bodies import OtherId, TaskId, warnings
from aster.server.errors import refusals
from aster.server.media import JsonObject, Part
from aster.server.memory_answers import Record, SoulAnswer
from aster.server.routes.memory import BODY
from aster.server.rpc import MEMORY_TOOLS, Wanted
from aster.server.visit import KEYED, Serving, Visit, Visiting

router = APIRouter(tags=["rpc"], dependencies=KEYED)


class RpcBody(Part):
    """One call."""

    method: OtherId = Field(description="`tool.<name>`, `memory.<operation>` or `skill.<name>`.")
    params: JsonObject = Field(description="The input of the tool, or what the operation needs.")
    task_id: TaskId | None = Field(
        None, description="In whose workspace and on whose thread; left out, in a task of its own."
    )
    turn_id: OtherId | None = Field(
        None, description="Of a call that was made before: wait for its result, make no other."
    )
    permission_mode: PermissionMode | None = None
    unattended: StrictBool = Field(False, description="Nobody is there to answer, as in `POST /execute`.")


class RpcAnswer(BaseModel):
    result: dict[str, Any]


@router.post(
    "/rpc",
    summary="Call a tool, a memory operation or a skill by name",
    response_model=RpcAnswer,
    responses=refusals(
        *BODY,
        ErrorCode.NOT_FOUND,
        ErrorCode.PERMISSION_DENIED,
        ErrorCode.HITL_REQUIRED,
        ErrorCode.TOOL_IN_DOUBT,
        ErrorCode.TASK_BUSY,
        ErrorCode.MCP_CONNECTION_FAILED,
        ErrorCode.SLOTS_EXHAUSTED,
        ErrorCode.DRAINING,
    ),
)
async def rpc_call(body: RpcBody, engine: Serving, visit: Visiting, response: Response) -> RpcAnswer:
    """Waits for the result. A call that needs a person is parked and answered with `HITL_REQUIRED`: answer the
    `request_id` in its details, and send the call again with its `turn_id`. A tool that ran and failed is a result
    with `ok: false`."""
    response.headers.update(warnings(body))
    if body.turn_id is not None:
        return RpcAnswer(result=await rpc.resumed(engine, visit, body.method, body.turn_id))
    space, _, name = body.method.partition(".")
    match space:
        case "tool" if name:
            return RpcAnswer(result=await rpc.call(engine, visit, _wanted(body, name)))
        case "skill" if name:
            return RpcAnswer(result=await rpc.call(engine, visit, await _skill(engine, visit, body, name)))
        case "memory" if name in MEMORY_TOOLS:
            return RpcAnswer(result=await rpc.call(engine, visit, _wanted(body, MEMORY_TOOLS[name])))
        case "skill" if name:
            tool, given = await rpc.skill_call(engine, visit, name, body.params)
            return RpcAnswer(result=await rpc.call(engine, visit, _wanted(body, tool)._replace(params=given)))
        case "memory" if name in _READS:
            return RpcAnswer(result=await _read(engine, visit, name, body.params))
        case _:
            raise _unknown(body.method)


def _wanted(body: RpcBody, tool: str) -> Wanted:
    return Wanted(body.method, tool, body.params, body.task_id, body.permission_mode, body.unattended)


async def _skill(engine: Engine, visit: Visit, body: RpcBody, name: str) -> Wanted:
    """A skill is carried out by a model of its own; one that the agent wrote is run."""
    found = await engine.skills.find(visit.user_id, name)
    tool = "run_skill" if found.acquired is None and found.composed is None else "use_skill"
    return _wanted(body, tool)._replace(params={"name": name, "input": body.params})


_READS = ("get", "soul", "statistics")


async def _read(engine: Engine, visit: Visit, name: str, params: dict[str, Any]) -> dict[str, Any]:
    """What changes nothing is read as its own route would."""
    if name == "soul":
        return SoulAnswer.of((await engine.memory.soul(visit.user_id))[0]).model_dump()
    if name == "statistics":
        found = await engine.memory.statistics(visit.user_id)
        return {"stores": {one.store: one.records for one in found.stores}, "pending": found.pending}
    record_id = params.get("id")
    if not isinstance(record_id, str):
        problem = "has to be the id of a memory"
        raise EngineError(
            ErrorCode.INVALID_REQUEST,
            f"Correct this and send it again: `params.id` {problem}.",
            {"fields": [{"field": "params.id", "problem": problem}]},
        )
    return Record.of(await engine.memory.get(visit.user_id, record_id), now_ms()).model_dump()


def _unknown(method: str) -> EngineError:
    operations = ", ".join(f"memory.{name}" for name in (*MEMORY_TOOLS, *_READS))
    return EngineError(
        ErrorCode.NOT_FOUND,
        f"There is no method {method!r}. There are tool.<name> (GET /tools lists them), skill.<name> and {operations}.",
        {"method": method},
    )
