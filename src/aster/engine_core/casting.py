"""Casting: in which role a model answers a turn, and which model that has to be.

Both are read from the thread alone (how the turn was asked for, what its first message says, what it fell back to),
so they are the same in every step and after a restart.
"""

from aster.contracts.blocks import text_of
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.llm import ModelRole
from aster.contracts.turn import TurnState
from aster.engine_core.history import spoken
from aster.engine_core.intent import Intent
from aster.infra.settings import Settings


def model_of(state: TurnState, settings: Settings) -> str:
    """The model that has to answer; empty when its pool may choose."""
    return state.fallback_model or _wanted(state, settings)


def role_of(state: TurnState, settings: Settings) -> ModelRole:
    """`coding` for a turn that wants no model of its own and is about code, where there is a pool for that; `worker`
    for a replay that nobody waits for."""
    if state.request.behind and settings.llm_pool_worker and not _wanted(state, settings):
        return "worker"
    if not settings.llm_pool_coding or _wanted(state, settings):
        return "foreground"
    said = next((text_of(message.content) for message in state.messages if spoken(message)), "")
    return "coding" if Intent(said).coding else "foreground"


def check_model(settings: Settings, model: str | None) -> None:
    """Refuse a model that may not be chosen."""
    allowed = settings.allowed_models
    if model is None or model in allowed:
        return
    may = f"may be {', '.join(allowed)}" if allowed else "may not be chosen here (LLM_ALLOWED_MODELS is empty)"
    raise EngineError(
        ErrorCode.INVALID_REQUEST,
        f"Correct this and send it again: `model` {may}.",
        {"fields": [{"field": "model", "problem": may}]},
    )


def _wanted(state: TurnState, settings: Settings) -> str:
    planner = settings.planner_model if state.request.permission_mode == "plan" else ""
    return state.request.model or planner
