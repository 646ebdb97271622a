"""Whether the engine can do its work, for load balancers and people; the one route without a key."""

import asyncio
from typing import Any, Final

from fastapi import APIRouter, Response

from aster import __version__
from aster.contracts.errors import EngineError
from aster.engine_core.engine import Engine
from aster.herald.local.runtime import SMALL, LocalRuntime
from aster.herald.node import Node
from aster.herald.pools import Pools
from aster.infra.clock import iso_ms, now_ms
from aster.server.answers import Health, Subsystem
from aster.server.visit import Serving

router = APIRouter(tags=["operation"])

GLANCE_SECONDS: Final = 1.0
"""Balancers give up on a check that takes much longer; a brain that has gone away must not look like a dead engine."""
UNREADABLE: Final = "the brain cannot be read"


@router.get(
    "/health",
    summary="Is the engine well?",
    response_model=Health,
    responses={503: {"model": Health, "description": "The engine is draining: send nothing new."}},
)
async def health(engine: Serving, response: Response) -> Health:
    """200 while it takes requests, even `degraded`; 503 while it drains."""
    brain = await _brain(engine)
    subsystems = {
        "brain": brain,
        "llm": _llm(engine),
        "sandbox": _sandbox(engine),
        "slots": _slots(engine),
        "memory": await _memory(engine) if brain.ok else _part(False, problem=UNREADABLE),
        "learning": await _learning(engine) if brain.ok else _part(False, problem=UNREADABLE),
    }
    status = "ok" if all(part.ok for part in subsystems.values()) else "degraded"
    if engine.draining:
        status = "draining"
        response.status_code = 503
    uptime = round((now_ms() - engine.started_at_ms) / 1000, 3)
    return Health(status=status, uptime_seconds=uptime, version=__version__, subsystems=subsystems)


async def _brain(engine: Engine) -> Subsystem:
    state = await engine.brain.health()
    problem = {} if state.fault is None else {"problem": state.fault}
    return _part(
        state.ok, backend=state.backend, schema_version=state.schema_version, backlog=state.backlog, **problem
    )


def _llm(engine: Engine) -> Subsystem:
    """As the last call went; nothing is asked for the sake of a health check."""
    herald = engine.herald
    last = herald.last_call
    facts: dict[str, Any] = {"provider": engine.settings.llm_provider, "model": herald.endpoint.model}
    if last is not None:
        facts["last_call_at"] = iso_ms(last.at_ms)
    if engine.local is not None:
        facts |= _local(engine.local)
    failing = [node.name for node in herald.foreground.nodes if node.breaker.state != "closed"]
    if last is not None and not last.ok:
        facts["problem"] = last.problem
    elif failing:
        facts["problem"] = f"left alone after failing too often: {', '.join(failing)}"
    endpoints = [_endpoint(herald, node) for node in herald.nodes]
    return _part("problem" not in facts, **facts, roles=herald.roles(), endpoints=endpoints)


def _local(model: LocalRuntime) -> dict[str, Any]:
    """The engine's own model: what it is, and how far it has come."""
    state = model.state
    facts = {"model": model.model, "stage": state.stage, "text": state.text, "note": SMALL}
    weights = {"done_bytes": state.done_bytes, "total_bytes": state.total_bytes}
    problem = {"problem": state.text} if state.stage == "unavailable" else {}
    return {**facts, **{name: size for name, size in weights.items() if size is not None}, **problem}


def _endpoint(herald: Pools, node: Node) -> dict[str, Any]:
    """One node: its circuit, and how long it is not going to be asked."""
    refusal = node.refusal()
    wait = {} if refusal is None else {"retry_after_seconds": round(refusal.retry_after or 0.0, 3)}
    return {
        "endpoint": node.endpoint.name,
        "model": node.model,
        "pools": herald.pools_of(node),
        "circuit": node.breaker.state,
        "failures": node.breaker.failures,
        "rate_limited": node.quota.wait() > 0,
        "tools": "native" if node.herald.native_tools else "text",
        **wait,
    }


def _sandbox(engine: Engine) -> Subsystem:
    report = engine.sandbox.report
    tried = [{"backend": one.backend, "ok": one.ok, "reason": one.reason} for one in report.tried]
    return _part(report.ok, backend=report.backend, reason=report.reason, tried=tried)


async def _memory(engine: Engine) -> Subsystem:
    """Who makes vectors, and how much waits for one. What is found by words alone is found, so only a model that is
    there and fails is a problem."""
    try:
        async with asyncio.timeout(GLANCE_SECONDS):
            state = await engine.memory.state()
    except (TimeoutError, EngineError):
        return _part(False, problem=UNREADABLE)
    facts: dict[str, Any] = {
        "embedding_model": state.model,
        "pending_vectors": state.pending,
        "vectors": state.vectors,
        "warm": state.cold == 0,
        "cold_shelves": state.cold,
    }
    if state.missing is not None:
        facts["note"] = f"found by words alone: {state.missing}"
    if state.fault is not None:
        facts["problem"] = state.fault
    return _part(state.fault is None, **facts)


async def _learning(engine: Engine) -> Subsystem:
    """Whether the engine learns, and how much waits for it; what was set aside is no problem of the engine's."""
    try:
        async with asyncio.timeout(GLANCE_SECONDS):
            queue = await engine.brain.learning.queue(None)
    except (TimeoutError, EngineError):
        return _part(False, problem=UNREADABLE)
    return _part(True, mode=engine.settings.learning, backlog=queue.waiting, set_aside=queue.set_aside)


def _slots(engine: Engine) -> Subsystem:
    used, total = engine.coordinator.slots
    return _part(True, used=used, total=total)


def _part(ok: bool, **facts: Any) -> Subsystem:
    return Subsystem.model_validate({"ok": ok, **facts})
