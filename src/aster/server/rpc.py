"""Calls by name: what a method stands for, and what the turn that makes its call came to.

A call is a turn like any other: it is found in its task, it can wait for a person for days, and whoever made it can
come back for its result.
"""

from typing import Any, Final, NamedTuple

from aster.brain.fanout import Subscription
from aster.brain.records import HitlRecord, ThreadKey
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.events import ErrorEvent, Event, HitlRequest, Phase, ThreadLifecycle, ToolResult, decode_event
from aster.contracts.model import to_builtins
from aster.contracts.permissions import PermissionMode
from aster.contracts.tools import PERMISSION_DENIED, ToolCall
from aster.engine_core.engine import Engine
from aster.engine_core.hooks.points import BLOCKED
from aster.engine_core.orders import Follows, Order
from aster.infra.ids import new_id
from aster.server.visit import Visit

TASK: Final = "rpc"
"""The task of calls that name none."""

MEMORY_TOOLS: Final = {
    "search": "memory_search",
    "write": "memory_write",
    "forget": "memory_forget",
    "note": "working_memory_write",
}
"""Operations of `memory.*` that are calls of tools."""

_TELLING: Final = frozenset({"tool_result", "error", "thread_lifecycle", "hitl_request"})
_TAKEN: Final = frozenset({ErrorCode.TASK_BUSY, ErrorCode.HITL_REQUIRED, ErrorCode.TOOL_IN_DOUBT})
_REFUSED: Final = {
    PERMISSION_DENIED: ErrorCode.PERMISSION_DENIED,
    BLOCKED: ErrorCode.PERMISSION_DENIED,
    "unattended": ErrorCode.PERMISSION_DENIED,
    "invalid_input": ErrorCode.INVALID_REQUEST,
    "unknown_tool": ErrorCode.NOT_FOUND,
    "unknown_skill": ErrorCode.NOT_FOUND,
    "in_doubt": ErrorCode.TOOL_IN_DOUBT,
    ErrorCode.MCP_CONNECTION_FAILED.value: ErrorCode.MCP_CONNECTION_FAILED,
}
"""Outcomes of calls that did not run, by their reason."""


class Wanted(NamedTuple):
    """A call as a client wants it made."""

    method: str
    tool: str
    params: dict[str, Any]
    task_id: str | None = None
    permission_mode: PermissionMode | None = None
    unattended: bool = False


async def call(engine: Engine, visit: Visit, wanted: Wanted) -> dict[str, Any]:
    """Make a call and wait for its result. One that names no task gets its own when the usual one is taken."""
    try:
        return await _made(engine, visit, wanted, wanted.task_id or TASK)
    except EngineError as error:
        busy = error.code in _TAKEN and "turn_id" not in (error.details or {})
        if not busy or wanted.task_id is not None:
            raise
    return await _made(engine, visit, wanted, new_id(TASK))


async def skill_call(engine: Engine, visit: Visit, name: str, params: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The tool that runs a skill of this user, and its input: code is run as code, instructions by a model."""
    found = (await engine.skills.of(visit.user_id)).get(name)
    tool = "run_skill" if found is None or found.acquired is None else "use_skill"
    return tool, {"name": name, "input": params}


async def resumed(engine: Engine, visit: Visit, method: str, turn_id: str) -> dict[str, Any]:
    """Come back for the result of a call that was made before."""
    turn = await engine.brain.turn(visit.user_id, turn_id)
    key = ThreadKey(visit.user_id, "" if turn is None else turn.task_id)
    frames = [] if turn is None else await engine.brain.frames(key, turn.first_seq - 1, 1)
    begun = decode_event(frames[0].json) if frames else None
    asked = begun.request if isinstance(begun, ThreadLifecycle) else None
    if turn is None or (asked or {}).get("method") != method:
        raise EngineError(
            ErrorCode.NOT_FOUND,
            f"There is no call of {method[:200]!r} with the turn {turn_id!r}.",
            {"turn_id": turn_id},
        )
    return await _result(engine, key, turn_id, engine.brain.subscribe(key, turn.first_seq - 1))


async def _made(engine: Engine, visit: Visit, wanted: Wanted, task_id: str) -> dict[str, Any]:
    order = Order(
        task_id=task_id,
        message=f"[A client called {wanted.method} itself.]",
        request_id=visit.request_id,
        permission_mode=wanted.permission_mode,
        unattended=wanted.unattended,
        follows=Follows(turn_id=None) if wanted.task_id is None else None,
        method=wanted.method,
        call=ToolCall(id=new_id("call"), name=wanted.tool, input=wanted.params),
    )
    ticket = await engine.coordinator.submit(visit.user_id, order)
    return await _result(engine, ThreadKey(visit.user_id, task_id), ticket.turn_id, ticket.subscription)


async def _result(engine: Engine, key: ThreadKey, turn_id: str, subscription: Subscription) -> dict[str, Any]:
    """Follow the turn to its end; raises when a person has to answer first, or when the call was refused."""
    result: ToolResult | None = None
    failure: ErrorEvent | None = None
    with subscription:
        while not engine.leaving:
            for frame in await subscription.next(engine.settings.heartbeat_seconds):
                if frame.type not in _TELLING or frame.turn_id not in (turn_id, None):
                    continue
                event: Event = decode_event(frame.json)
                match event:
                    case ToolResult():
                        result = event
                    case ErrorEvent():
                        failure = event
                    case ThreadLifecycle(phase=Phase.SUSPENDED):
                        _refuse(key, turn_id, await _waiting(engine, key, turn_id))
                    case HitlRequest(turn_id=None):
                        _refuse(key, turn_id, await _asked_below(engine, key, turn_id, event.request_id))
                    case ThreadLifecycle() if event.phase.final:
                        return _told(key, turn_id, result, failure)
                    case _:
                        pass
    raise EngineError(
        ErrorCode.DRAINING,
        "The engine is going away; the call goes on with the next one. Send it again with this `turn_id`.",
        {"task_id": key.task_id, "turn_id": turn_id},
        retry_after=2.0,
    )


async def _waiting(engine: Engine, key: ThreadKey, turn_id: str) -> HitlRecord | None:
    """What a person has to answer before the call goes on, unless somebody has by now."""
    pending = await engine.brain.pending_requests(*key)
    return next((one for one in pending if one.turn_id == turn_id), None)


async def _asked_below(engine: Engine, key: ThreadKey, turn_id: str, request_id: str) -> HitlRecord | None:
    """The same, of a sub-agent that works for the call."""
    asked = await engine.brain.request(key.user_id, request_id)
    if asked is None or asked.status != "pending":
        return None
    child = await engine.brain.subagent(key.user_id, asked.turn_id)
    return asked if child is not None and child.root_turn_id == turn_id else None


def _refuse(key: ThreadKey, turn_id: str, asked: HitlRecord | None) -> None:
    if asked is not None:
        raise EngineError(
            ErrorCode.HITL_REQUIRED,
            f"{asked.question} Answer with POST /hitl/respond, then send the call again with this `turn_id` for its"
            " result.",
            {
                "task_id": key.task_id,
                "turn_id": turn_id,
                "request_id": asked.request_id,
                "kind": asked.kind,
                "tool": asked.tool,
            },
        )


def _told(key: ThreadKey, turn_id: str, result: ToolResult | None, failure: ErrorEvent | None) -> dict[str, Any]:
    where = {"task_id": key.task_id, "turn_id": turn_id}
    if failure is not None or result is None:
        code = ErrorCode.INTERNAL if failure is None else ErrorCode(failure.error)
        said = "The call ended without a result." if failure is None else failure.message
        raise EngineError(code, said, where)
    refused = _REFUSED.get(result.error or "")
    if refused is not None:
        problems = (result.data or {}).get("errors", ())
        fields = [{"field": "params", "problem": problem} for problem in problems]
        raise EngineError(refused, result.output, {**where, "fields": fields} if fields else where)
    return {
        "ok": result.error is None,
        "output": result.output,
        "error": result.error,
        "data": result.data,
        "content": to_builtins(result.content),
        "artifacts": to_builtins(result.artifacts),
        "duration_ms": result.duration_ms,
        **where,
    }
