"""Events about the machinery around the model: fallbacks, breakers, hooks, connectors."""

from typing import ClassVar, Literal

from aster.contracts.events.base import Event, Grade
from aster.contracts.llm import ModelStage


class ProviderFallback(Event, tag="provider_fallback"):
    from_model: str
    to_model: str
    reason: str


class CircuitState(Event, tag="circuit_state"):
    endpoint: str
    state: Literal["closed", "open", "half_open"]
    failures: int = 0
    retry_after_ms: int | None = None


class ModelProgress(Event, tag="model_progress"):
    """The turn waits for a model that the engine itself makes ready; the bytes are those of its weights."""

    grade: ClassVar[Grade] = Grade.DELTA

    stage: ModelStage
    text: str
    done_bytes: int | None = None
    total_bytes: int | None = None


class HookRan(Event, tag="hook_ran"):
    hook: str
    hook_event: str
    outcome: Literal["success", "blocked", "error", "timeout"]
    tool: str | None = None
    message: str | None = None
    duration_ms: int | None = None


class AssetState(Event, tag="asset_state"):
    server_name: str
    status: Literal["pending", "connected", "needs_auth", "failed", "disabled", "disconnected"]
    tools: int | None = None
    reason: str | None = None
