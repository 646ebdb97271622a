"""Whether the engine can do its work, for load balancers and people; the one route without a key."""

from typing import Any

from fastapi import APIRouter, Response

from aster import __version__
from aster.engine_core.engine import Engine
from aster.infra.clock import iso_ms, now_ms
from aster.server.answers import Health, Subsystem
from aster.server.visit import Serving

router = APIRouter(tags=["operation"])


@router.get(
    "/health",
    summary="Is the engine well?",
    response_model=Health,
    responses={503: {"model": Health, "description": "The engine is draining: send nothing new."}},
)
async def health(engine: Serving, response: Response) -> Health:
    """200 while it takes requests, even `degraded`; 503 while it drains."""
    subsystems = {
        "brain": await _brain(engine),
        "llm": _llm(engine),
        "sandbox": _sandbox(engine),
        "slots": _slots(engine),
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
    last = engine.herald.last_call
    named = {"provider": engine.settings.llm_provider, "model": engine.herald.endpoint.model}
    if last is None:
        return _part(True, **named)
    problem = {} if last.ok else {"problem": last.problem}
    return _part(last.ok, **named, last_call_at=iso_ms(last.at_ms), **problem)


def _sandbox(engine: Engine) -> Subsystem:
    report = engine.sandbox.report
    return _part(report.ok, backend=report.backend, reason=report.reason)


def _slots(engine: Engine) -> Subsystem:
    used, total = engine.coordinator.slots
    return _part(True, used=used, total=total)


def _part(ok: bool, **facts: Any) -> Subsystem:
    return Subsystem.model_validate({"ok": ok, **facts})
