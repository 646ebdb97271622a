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
    ("api", "model", "protocol"),
    [
        ("auto", "gpt-4o", "openai_chat"),
        ("auto", "gpt-5.2", "openai_chat"),
        ("auto", "gpt-6-sol", "openai_responses"),
        ("chat", "gpt-6-sol", "openai_chat"),
        ("responses", "gpt-4o", "openai_responses"),
    ],
)
def test_which_of_openais_protocols(api: str, model: str, protocol: str) -> None:
    assert _from(llm_provider="openai", llm_api_key="k", llm_model=model, llm_openai_api=api).protocol == protocol
    elsewhere = "openai_responses" if api == "responses" else "openai_chat"
    for provider in ("openai", "openai_compatible"):
        endpoint = _from(
            llm_provider=provider, llm_base_url="http://127.0.0.1:9", llm_model=model, llm_openai_api=api
        )
        assert (endpoint.protocol, endpoint.base_url) == (elsewhere, "http://127.0.0.1:9/v1")


def test_gemini() -> None:
    endpoint = _from(llm_provider="gemini", gemini_api_key="g-1")
    assert endpoint == Endpoint.gemini("g-1")
    assert endpoint.base_url == "https://generativelanguage.googleapis.com/v1beta"
    assert (endpoint.protocol, endpoint.model) == ("gemini", "gemini-3.8-flash")
    assert endpoint.auth == {"x-goog-api-key": "g-1"}
    both = _from(llm_provider="gemini", gemini_api_key="g-1", llm_api_key="g-2", llm_model="gemini-2.5-pro")
    assert (both.auth, both.model) == ({"x-goog-api-key": "g-2"}, "gemini-2.5-pro")
    elsewhere = _from(llm_provider="gemini", llm_base_url="http://127.0.0.1:9/")
    assert (elsewhere.base_url, elsewhere.auth) == ("http://127.0.0.1:9/v1beta", {})
    assert _from(llm_provider="gemini", llm_base_url="http://h/v1").base_url == "http://h/v1"


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
        ({"llm_provider": "gemini"}, "LLM_API_KEY"),
        ({"llm_provider": "openai_compatible", "llm_model": "m"}, "LLM_BASE_URL"),
        ({"llm_provider": "openai_compatible", "llm_base_url": "http://h"}, "LLM_MODEL"),
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
    assert "sk-1" not in repr(Endpoint.gemini("sk-1"))
