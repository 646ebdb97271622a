"""`/v1/models`: what a client may put into `model`. An agent is a model here; so is each model the operator allows."""

from typing import Any, Final, NamedTuple
from urllib.parse import unquote

from fastapi import APIRouter

from aster.contracts.errors import EngineError, ErrorCode
from aster.engine_core.engine import Engine
from aster.server.errors import refusals
from aster.server.visit import KEYED, Serving, Visiting

router = APIRouter(tags=["doors"], dependencies=KEYED)

AGENT: Final = "aster"


class Chosen(NamedTuple):
    """Who answers: an agent and a model, each None where the engine chooses."""

    agent: str | None = None
    model: str | None = None


async def chosen(engine: Engine, user_id: str, name: str) -> Chosen:
    """Whom a client asks for."""
    if name == AGENT:
        return Chosen()
    if name in engine.settings.allowed_models:
        return Chosen(model=name)
    if name in await _names(engine, user_id):
        return Chosen(agent=name.removeprefix(f"{AGENT}/"))
    raise unknown(name)


def unknown(name: str) -> EngineError:
    return EngineError(
        ErrorCode.NOT_FOUND,
        f"There is no model {name[:128]!r} here. GET /v1/models lists what there is.",
        {"fields": [{"field": "model", "problem": "is not known"}], "code": "model_not_found"},
    )


@router.get("/v1/models", summary="List what a client may ask", responses=refusals())
async def models(engine: Serving, visit: Visiting) -> dict[str, Any]:
    """The usual agent (`aster`), the others by name (`aster/coder`), and the models that messages may ask for
    (`LLM_ALLOWED_MODELS`)."""
    return {"object": "list", "data": [_model(engine, name) for name in await _names(engine, visit.user_id)]}


@router.get(
    "/v1/models/{name:path}",
    summary="One of them",
    responses=refusals(ErrorCode.NOT_FOUND, ErrorCode.INVALID_REQUEST),
)
async def show_model(name: str, engine: Serving, visit: Visiting) -> dict[str, Any]:
    """As the list has it."""
    name = unquote(name)
    if name not in await _names(engine, visit.user_id):
        raise unknown(name)
    return _model(engine, name)


async def _names(engine: Engine, user_id: str) -> list[str]:
    agents = [f"{AGENT}/{kept.agent.name}" for kept in await engine.agents.listed(user_id)]
    return [AGENT, *agents, *engine.settings.allowed_models]


def _model(engine: Engine, name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": engine.started_at_ms // 1000, "owned_by": "aster"}
