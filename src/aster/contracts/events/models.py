"""Events about the machinery around the model: fallbacks, breakers, hooks, connectors."""

from typing import Any, ClassVar, Literal

from aster.contracts.events.base import Event, Grade
from aster.contracts.llm import ModelStage
from aster.contracts.permissions import Behavior


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
    """A hook of the operator's was asked. `updated_input` is what the call runs with instead, `context` what the model
    is told, `stop` that the turn ends after this step."""

    hook: str
    hook_event: str
    outcome: Literal["success", "blocked", "error", "timeout"]
    tool: str | None = None
    message: str | None = None
    duration_ms: int | None = None
    tool_call_id: str | None = None
    context: str | None = None
    updated_input: dict[str, Any] | None = None
    blocked: bool = False
    permission: Behavior | None = None
    stop: bool = False


class AssetState(Event, tag="asset_state"):
    server_name: str
    status: Literal["pending", "connected", "needs_auth", "failed", "disabled", "disconnected"]
    tools: int | None = None
    reason: str | None = None
