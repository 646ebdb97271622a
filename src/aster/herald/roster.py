"""The roster of a pool: the endpoints that `LLM_POOL_*` lists, read from text, whole or not at all.

The provider's key goes to its own host alone; every other node gets the key of the pools or none. What is
wrong is said with the node that it is wrong about, and without a password in it.
"""

import dataclasses
import re
from typing import Literal, TypeAlias, get_args
from urllib.parse import urlsplit

from aster.contracts.errors import EngineError, ErrorCode
from aster.herald.endpoint import Endpoint
from aster.infra.settings import Settings, variable

PoolName: TypeAlias = Literal["foreground", "worker", "coding", "critic", "vision"]
POOL_NAMES: tuple[PoolName, ...] = get_args(PoolName)

Role: TypeAlias = PoolName | Literal["light", "fallback", "planner"]
"""What somebody can be set up for: to be in a pool, or to be the model that is asked in its place."""

BUILT_IN = ("demo", "local")
"""Providers that are part of the engine: they have no address of their own."""

_NODE = re.compile(r"(?:(?P<provider>\w+):(?!//))?(?P<url>[^|]*)\|(?P<model>[^|]+)")
_COMPATIBLE = "openai_compatible"
_PASSWORD = re.compile(r"//[^/@|]*@")


def roster(settings: Settings, pool: PoolName) -> list[Endpoint]:
    """The endpoints of a pool in the order they are listed; none when the pool is not set up."""
    field = f"llm_pool_{pool}"
    listed: str = getattr(settings, field)
    return [_endpoint(settings, field, node.strip()) for node in listed.split(",") if node.strip()]


def endpoint_at_home(settings: Settings, home: Endpoint, model: str) -> Endpoint:
    """Another model at the endpoint of LLM_PROVIDER."""
    if settings.llm_provider in BUILT_IN:
        return dataclasses.replace(home, model=model)
    return Endpoint.from_settings(settings.model_copy(update={"llm_model": model}))


def _endpoint(settings: Settings, field: str, node: str) -> Endpoint:
    found = _NODE.fullmatch(node)
    if found is None:
        raise _wrong(field, node, "write it as url|model")
    provider, url, model = (part.strip() for part in (found["provider"] or "", found["url"], found["model"]))
    provider = provider or _COMPATIBLE
    if provider not in _providers():
        raise _wrong(field, node, f"`{provider}` is neither http(s) nor one of {', '.join(_providers())}")
    key = settings.llm_api_key if _is_home(settings, provider, url) else settings.llm_pool_api_key
    try:
        if provider == _COMPATIBLE:
            return Endpoint.openai_compatible(url, model, key.get_secret_value() if key else None)
        update = {"llm_provider": provider, "llm_base_url": url or None, "llm_model": model, "llm_api_key": key}
        if url:
            update["gemini_api_key"] = None
        return Endpoint.from_settings(settings.model_copy(update=update))
    except EngineError as error:
        raise _wrong(field, node, _problem(error)) from None


def _providers() -> list[str]:
    named: list[str] = [*get_args(Settings.model_fields["llm_provider"].annotation), _COMPATIBLE]
    return sorted({name for name in named if name not in BUILT_IN})


def _is_home(settings: Settings, provider: str, url: str) -> bool:
    """Whether a node is where LLM_API_KEY belongs."""
    if not url:
        return provider == settings.llm_provider and not settings.llm_base_url
    home = settings.llm_base_url or ""
    return bool(home) and urlsplit(url)[:2] == urlsplit(home)[:2]


def _problem(error: EngineError) -> str:
    about = next(iter(error.details or {}), "")
    if about == variable("llm_base_url"):
        return "its address is not an http(s) address such as http://127.0.0.1:11434/v1"
    if about == variable("llm_api_key"):
        return "it needs a key: set LLM_POOL_API_KEY"
    return error.message


def _wrong(field: str, node: str, problem: str) -> EngineError:
    shown = _PASSWORD.sub("//…@", node)
    sentence = f"Correct the node `{shown}` of {variable(field)}: {problem}."
    return EngineError(ErrorCode.CONFIGURATION_INVALID, sentence, {variable(field): sentence})
