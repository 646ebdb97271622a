"""Where a model is reached: a base URL, the protocol spoken there, the form of its key, and its few habits.

An endpoint is data. A new compatible provider is another value of this type, not another branch; the key is
in it, and therefore never in its `repr`.
"""

import re
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias
from urllib.parse import SplitResult, urlsplit

from aster.contracts.errors import EngineError, ErrorCode
from aster.herald.local.prompt import LOCAL_PROMPT
from aster.herald.profiles import profile_of
from aster.infra.settings import Settings, variable

ProtocolName: TypeAlias = Literal["anthropic", "openai_chat", "openai_responses", "gemini", "local_chat"]
OpenAIApi: TypeAlias = Literal["auto", "chat", "responses"]
LimitField: TypeAlias = Literal["max_tokens", "max_completion_tokens"]


class AuthForm(NamedTuple):
    """A header that carries the key, and what stands before it."""

    header: str
    prefix: str


_BEARER = AuthForm("authorization", "Bearer ")
_API_KEY = AuthForm("x-api-key", "")
_GOOGLE_KEY = AuthForm("x-goog-api-key", "")
_ANTHROPIC_URL = "https://api.anthropic.com"
LOCAL_HOST = "local.aster.invalid"
"""Stands for the engine's own model, wherever its process listens."""

_GEMINI_URL = "https://generativelanguage.googleapis.com/v1beta"


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One place to call.

    `limit_field` is the name under which it takes the output limit, `echo_reasoning` whether it wants earlier
    reasoning back in the conversation (both only matter to OpenAI's protocols). `stock_prompt` takes the place of
    the engine's own where that is too much for the model. Without `native_tools` tools are offered as text.
    `takes_cache_key`: it finds a conversation's cache again by a name that is sent along.
    """

    name: str
    base_url: str
    protocol: ProtocolName
    model: str
    key: str | None = field(default=None, repr=False)
    auth_forms: tuple[AuthForm, ...] = (_BEARER,)
    limit_field: LimitField = "max_tokens"
    echo_reasoning: bool = False
    native_tools: bool = True
    stock_prompt: str | None = None
    takes_cache_key: bool = False

    @property
    def auth(self) -> dict[str, str]:
        """The headers that carry the key."""
        return {header: prefix + self.key for header, prefix in self.auth_forms} if self.key else {}

    @classmethod
    def openai(cls, key: str, model: str = "gpt-4o", api: OpenAIApi = "auto") -> "Endpoint":
        """OpenAI itself; left to `auto`, families that think beside tools only in Responses are asked there."""
        responses = api == "responses" or (api == "auto" and not profile_of(model).effort_with_tools)
        return cls(
            name="api.openai.com",
            base_url="https://api.openai.com/v1",
            protocol="openai_responses" if responses else "openai_chat",
            model=model,
            key=_checked_key(key),
            limit_field="max_completion_tokens",
            takes_cache_key=True,
        )

    @classmethod
    def openai_compatible(
        cls, base_url: str, model: str, key: str | None = None, api: OpenAIApi = "auto"
    ) -> "Endpoint":
        """Any server that speaks Chat Completions or Responses (Ollama, vLLM, llama.cpp, a gateway)."""
        url = _checked_url(base_url)
        return cls(
            name=urlsplit(url).netloc,
            base_url=url if urlsplit(url).path else url + "/v1",
            protocol="openai_responses" if api == "responses" else "openai_chat",
            model=model,
            key=_checked_key(key),
            echo_reasoning=True,
        )

    @classmethod
    def anthropic(
        cls, key: str | None, model: str = "claude-sonnet-5-5", base_url: str = _ANTHROPIC_URL
    ) -> "Endpoint":
        """Anthropic, or any server that speaks its Messages protocol (these differ in which header they read)."""
        url = _checked_url(base_url).removesuffix("/v1")
        return cls(
            name=urlsplit(url).netloc,
            base_url=url,
            protocol="anthropic",
            model=model,
            key=_checked_key(key),
            auth_forms=(_API_KEY,) if url == _ANTHROPIC_URL else (_API_KEY, _BEARER),
        )

    @classmethod
    def gemini(cls, key: str | None, model: str = "gemini-3.8-flash", base_url: str = _GEMINI_URL) -> "Endpoint":
        """Gemini, or any server that speaks `generateContent`."""
        url = _checked_url(base_url)
        return cls(
            name=urlsplit(url).netloc,
            base_url=url if urlsplit(url).path else url + "/v1beta",
            protocol="gemini",
            model=model,
            key=_checked_key(key),
            auth_forms=(_GOOGLE_KEY,),
        )

    @classmethod
    def local(cls) -> "Endpoint":
        """The small model that the engine runs itself; `LocalTransport` knows the way."""
        return cls(
            name="local",
            base_url=f"http://{LOCAL_HOST}/v1",
            protocol="local_chat",
            model="local",
            stock_prompt=LOCAL_PROMPT,
        )

    @classmethod
    def from_settings(cls, settings: Settings) -> "Endpoint":
        """The endpoint that `LLM_PROVIDER`, `LLM_BASE_URL`, `LLM_MODEL` and `LLM_API_KEY` describe."""
        key = settings.llm_api_key.get_secret_value() if settings.llm_api_key else None
        named = {"model": settings.llm_model} if settings.llm_model else {}
        elsewhere, api = settings.llm_base_url, settings.llm_openai_api
        match settings.llm_provider:
            case "openai" if elsewhere:
                return cls.openai_compatible(elsewhere, settings.llm_model or "gpt-4o", key, api)
            case "openai":
                return cls.openai(_required(key), **named, api=api)
            case "openai_compatible":
                if not elsewhere:
                    raise _wrong("llm_base_url", "Set LLM_BASE_URL to the endpoint, for example Ollama's.")
                if not settings.llm_model:
                    raise _wrong("llm_model", "Set LLM_MODEL to the name of a model that the endpoint serves.")
                return cls.openai_compatible(elsewhere, settings.llm_model, key, api)
            case "gemini":
                spare = settings.gemini_api_key.get_secret_value() if settings.gemini_api_key else None
                if elsewhere:
                    return cls.gemini(key or spare, base_url=elsewhere, **named)
                return cls.gemini(_required(key or spare, "LLM_API_KEY (or GEMINI_API_KEY)"), **named)
            case "anthropic" if elsewhere:
                return cls.anthropic(key, base_url=elsewhere, **named)
            case "anthropic":
                return cls.anthropic(_required(key), **named)
            case "local":
                return cls.local()
            case "demo":
                raise _wrong("llm_provider", "`demo` has no endpoint of its own; start its server and name that.")


def _required(key: str | None, named: str = "LLM_API_KEY") -> str:
    if not key:
        raise _wrong("llm_api_key", f"Set {named} to the provider's key, or LLM_BASE_URL to another endpoint.")
    return key


def _checked_key(key: str | None) -> str | None:
    if key and not (key.isascii() and key.isprintable() and " " not in key):
        raise _wrong("llm_api_key", "LLM_API_KEY holds characters that no key has; copy the key again.")
    return key or None


def _checked_url(base_url: str) -> str:
    parts = urlsplit(base_url)
    if parts.scheme not in ("http", "https") or parts.query or parts.fragment or not _is_host(parts):
        raise _wrong("llm_base_url", "Set LLM_BASE_URL to an http(s) address such as http://127.0.0.1:11434/v1.")
    if parts.username or parts.password:
        raise _wrong("llm_base_url", "Put the key into LLM_API_KEY, not into LLM_BASE_URL.")
    return base_url.rstrip("/")


def _is_host(parts: SplitResult) -> bool:
    try:
        return bool(parts.hostname) and not re.search(r"\s", parts.netloc) and (parts.port or 1) > 0
    except ValueError:
        return False


def _wrong(field_name: str, sentence: str) -> EngineError:
    return EngineError(ErrorCode.CONFIGURATION_INVALID, sentence, {variable(field_name): sentence})
