"""An endpoint comes out of the settings whole, or not at all."""

from typing import Any

import pytest

from aster.contracts.errors import EngineError, ErrorCode
from aster.herald.endpoint import Endpoint
from aster.infra.settings import load


def _from(**environ: str) -> Endpoint:
    return Endpoint.from_settings(load({key.upper(): value for key, value in environ.items()}, env_file=None))


def test_openai() -> None:
    endpoint = _from(llm_provider="openai", llm_api_key="sk-1")
    assert endpoint == Endpoint.openai("sk-1")
    assert (endpoint.base_url, endpoint.model) == ("https://api.openai.com/v1", "gpt-4o")
    assert endpoint.auth == {"authorization": "Bearer sk-1"}
    assert endpoint.limit_field == "max_completion_tokens"
    assert _from(llm_provider="openai", llm_api_key="sk-1", llm_model="gpt-6-sol").model == "gpt-6-sol"


def test_anthropic() -> None:
    endpoint = _from(llm_provider="anthropic", llm_api_key="sk-2")
    assert (endpoint.base_url, endpoint.protocol) == ("https://api.anthropic.com", "anthropic")
    assert endpoint.auth == {"x-api-key": "sk-2"}
    assert endpoint.model == "claude-sonnet-5-5"


@pytest.mark.parametrize(
    ("given", "base_url"),
    [
        ("http://127.0.0.1:11434/v1/", "http://127.0.0.1:11434/v1"),
        ("http://127.0.0.1:11434", "http://127.0.0.1:11434/v1"),
        ("https://gateway.example/openai/v2", "https://gateway.example/openai/v2"),
    ],
)
def test_compatible_endpoint_needs_no_key(given: str, base_url: str) -> None:
    endpoint = _from(llm_provider="openai", llm_base_url=given, llm_model="qwen")
    assert endpoint == Endpoint.openai_compatible(given, "qwen")
    assert (endpoint.base_url, endpoint.model, endpoint.auth) == (base_url, "qwen", {})
    assert (endpoint.limit_field, endpoint.echo_reasoning) == ("max_tokens", True)


def test_anthropic_elsewhere_with_or_without_v1() -> None:
    for url in ("http://127.0.0.1:9/", "http://127.0.0.1:9/v1"):
        endpoint = _from(llm_provider="anthropic", llm_base_url=url)
        assert (endpoint.base_url, endpoint.auth) == ("http://127.0.0.1:9", {})
    keyed = _from(llm_provider="anthropic", llm_base_url="http://127.0.0.1:9", llm_api_key="k")
    assert keyed.auth == {"x-api-key": "k", "authorization": "Bearer k"}


@pytest.mark.parametrize(
    ("environ", "variable"),
    [
        ({"llm_provider": "openai"}, "LLM_API_KEY"),
        ({"llm_provider": "anthropic"}, "LLM_API_KEY"),
        ({"llm_provider": "openai", "llm_api_key": "sk 1"}, "LLM_API_KEY"),
        ({"llm_provider": "anthropic", "llm_api_key": "sk-\u00e9"}, "LLM_API_KEY"),
        ({"llm_provider": "openai", "llm_base_url": "127.0.0.1:11434"}, "LLM_BASE_URL"),
        ({"llm_provider": "openai", "llm_base_url": "ftp://host/v1"}, "LLM_BASE_URL"),
        ({"llm_provider": "openai", "llm_base_url": "http://host:99999/v1"}, "LLM_BASE_URL"),
        ({"llm_provider": "openai", "llm_base_url": "http://ho st/v1"}, "LLM_BASE_URL"),
        ({"llm_provider": "openai", "llm_base_url": "http:///v1"}, "LLM_BASE_URL"),
        ({"llm_provider": "openai", "llm_base_url": "http://u:p@host/v1"}, "LLM_BASE_URL"),
        ({"llm_provider": "demo"}, "LLM_PROVIDER"),
    ],
)
def test_what_cannot_work_names_the_variable(environ: dict[str, str], variable: str) -> None:
    with pytest.raises(EngineError) as caught:
        _from(**environ)
    assert caught.value.code is ErrorCode.CONFIGURATION_INVALID
    assert caught.value.details is not None
    assert list(caught.value.details) == [variable]
    shown: Any = (repr(caught.value), caught.value.body())
    assert environ.get("llm_api_key", "\0") not in str(shown)


def test_the_key_is_not_shown() -> None:
    assert "sk-1" not in repr(Endpoint.openai("sk-1"))
    assert "sk-1" not in repr(Endpoint.anthropic("sk-1"))
