"""Where a model is reached: a base URL, the protocol spoken there, the form of its key, and its few habits.

An endpoint is data. A new compatible provider is another value of this type, not another branch; the key is
in it, and therefore never in its `repr`.
"""

import re
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias
from urllib.parse import SplitResult, urlsplit

from aster.contracts.errors import EngineError, ErrorCode
from aster.infra.settings import Settings, variable

ProtocolName: TypeAlias = Literal["anthropic", "openai_chat"]
LimitField: TypeAlias = Literal["max_tokens", "max_completion_tokens"]


class AuthForm(NamedTuple):
    """A header that carries the key, and what stands before it."""

    header: str
    prefix: str


_BEARER = AuthForm("authorization", "Bearer ")
_API_KEY = AuthForm("x-api-key", "")
_ANTHROPIC_URL = "https://api.anthropic.com"


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One place to call.

    `limit_field` is the name under which it takes the output limit, `echo_reasoning` whether it wants earlier
    reasoning back in the conversation (both only matter to OpenAI's protocol).
    """

    name: str
    base_url: str
    protocol: ProtocolName
    model: str
    key: str | None = field(default=None, repr=False)
    auth_forms: tuple[AuthForm, ...] = (_BEARER,)
    limit_field: LimitField = "max_tokens"
    echo_reasoning: bool = False

    @property
    def auth(self) -> dict[str, str]:
        """The headers that carry the key."""
        return {header: prefix + self.key for header, prefix in self.auth_forms} if self.key else {}

    @classmethod
    def openai(cls, key: str, model: str = "gpt-4o") -> "Endpoint":
        return cls(
            name="api.openai.com",
            base_url="https://api.openai.com/v1",
            protocol="openai_chat",
            model=model,
            key=_checked_key(key),
            limit_field="max_completion_tokens",
        )

    @classmethod
    def openai_compatible(cls, base_url: str, model: str, key: str | None = None) -> "Endpoint":
        """Any server that speaks Chat Completions (Ollama, vLLM, llama.cpp, a gateway)."""
        url = _checked_url(base_url)
        return cls(
            name=urlsplit(url).netloc,
            base_url=url if urlsplit(url).path else url + "/v1",
            protocol="openai_chat",
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
    def from_settings(cls, settings: Settings) -> "Endpoint":
        """The endpoint that `LLM_PROVIDER`, `LLM_BASE_URL`, `LLM_MODEL` and `LLM_API_KEY` describe."""
        key = settings.llm_api_key.get_secret_value() if settings.llm_api_key else None
        named = {"model": settings.llm_model} if settings.llm_model else {}
        elsewhere = settings.llm_base_url
        match settings.llm_provider:
            case "openai" if elsewhere:
                return cls.openai_compatible(elsewhere, settings.llm_model or "gpt-4o", key)
            case "openai":
                return cls.openai(_required(key), **named)
            case "anthropic" if elsewhere:
                return cls.anthropic(key, base_url=elsewhere, **named)
            case "anthropic":
                return cls.anthropic(_required(key), **named)
            case "demo":
                raise _wrong("llm_provider", "`demo` has no endpoint of its own; start its server and name that.")


def _required(key: str | None) -> str:
    if not key:
        raise _wrong("llm_api_key", "Set LLM_API_KEY to the provider's key, or LLM_BASE_URL to another endpoint.")
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
