"""How each provider words an error: its status, its body, the headers that come with it.

One kind of error is one row per provider, so that a script names the kind and every protocol says it in its
own way. The sentences are those the providers send; the numbers in them are examples.
"""

import secrets
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from msgspec import Struct, json

from aster.testing.script import ErrorKind, Failure

_STATUS: Mapping[ErrorKind, int] = {
    "invalid_request": 400,
    "no_tools": 400,
    "context_overflow": 400,
    "authentication": 401,
    "permission": 403,
    "not_found": 404,
    "too_large": 413,
    "rate_limit": 429,
    "server_error": 500,
    "unavailable": 503,
    "timeout": 504,
}
_ANTHROPIC_STATUS: Mapping[ErrorKind, int] = {**_STATUS, "quota": 402, "overloaded": 529}
_OPENAI_STATUS: Mapping[ErrorKind, int] = {**_STATUS, "quota": 429, "overloaded": 503}
_GEMINI_STATUS: Mapping[ErrorKind, int] = {
    **_STATUS,
    "authentication": 400,
    "too_large": 400,
    "quota": 403,
    "overloaded": 503,
}

_KIND: Mapping[int, ErrorKind] = {
    400: "invalid_request",
    401: "authentication",
    402: "quota",
    403: "permission",
    404: "not_found",
    413: "too_large",
    429: "rate_limit",
    500: "server_error",
    503: "unavailable",
    504: "timeout",
    529: "overloaded",
}
_RETRIED = frozenset({408, 409, 429, 500, 502, 503, 504, 529})


class HttpAnswer(Struct, frozen=True):
    """A whole answer that is not a stream."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class _Anthropic(NamedTuple):
    type: str
    message: str


class _OpenAI(NamedTuple):
    type: str
    code: str | None
    param: str | None
    message: str


class _Gemini(NamedTuple):
    status: str
    message: str
    reason: str | None = None


_ANTHROPIC: Mapping[ErrorKind, _Anthropic] = {
    "invalid_request": _Anthropic("invalid_request_error", "messages: at least one message is required"),
    "no_tools": _Anthropic("invalid_request_error", "{model} does not support tools"),
    "context_overflow": _Anthropic("invalid_request_error", "prompt is too long: 214315 tokens > 200000 maximum"),
    "authentication": _Anthropic("authentication_error", "invalid x-api-key"),
    "quota": _Anthropic(
        "billing_error",
        "Your credit balance is too low to access the Anthropic API. "
        "Please go to Plans & Billing to upgrade or purchase credits.",
    ),
    "permission": _Anthropic(
        "permission_error", "Your API key does not have permission to use the specified resource."
    ),
    "not_found": _Anthropic("not_found_error", "model: {model}"),
    "too_large": _Anthropic("request_too_large", "Request exceeds the maximum size"),
    "rate_limit": _Anthropic(
        "rate_limit_error",
        "This request would exceed your organization's rate limit of 30,000 input tokens per minute "
        "(model: {model}). For details, refer to: https://docs.claude.com/en/api/rate-limits. "
        "You can see the response headers for current usage.",
    ),
    "server_error": _Anthropic("api_error", "Internal server error"),
    "unavailable": _Anthropic("api_error", "Service unavailable"),
    "timeout": _Anthropic("timeout_error", "Request timed out"),
    "overloaded": _Anthropic("overloaded_error", "Overloaded"),
}
_OPENAI: Mapping[ErrorKind, _OpenAI] = {
    "invalid_request": _OpenAI("invalid_request_error", None, "messages", "Invalid value for 'messages'."),
    "no_tools": _OpenAI("api_error", None, None, "registry.ollama.ai/library/{model} does not support tools"),
    "context_overflow": _OpenAI(
        "invalid_request_error",
        "context_length_exceeded",
        "messages",
        "This model's maximum context length is 128000 tokens. However, your messages resulted in "
        "130024 tokens. Please reduce the length of the messages.",
    ),
    "authentication": _OpenAI(
        "invalid_request_error",
        "invalid_api_key",
        None,
        "Incorrect API key provided: sk-***. You can find your API key at "
        "https://platform.openai.com/account/api-keys.",
    ),
    "quota": _OpenAI(
        "insufficient_quota",
        "insufficient_quota",
        None,
        "You exceeded your current quota, please check your plan and billing details.",
    ),
    "permission": _OpenAI(
        "invalid_request_error",
        "missing_scope",
        None,
        "You have insufficient permissions for this operation. Missing scopes: model.request.",
    ),
    "not_found": _OpenAI(
        "invalid_request_error",
        "model_not_found",
        None,
        "The model `{model}` does not exist or you do not have access to it.",
    ),
    "too_large": _OpenAI("invalid_request_error", None, None, "Request body too large."),
    "rate_limit": _OpenAI(
        "tokens",
        "rate_limit_exceeded",
        None,
        "Rate limit reached for {model} in organization org-example on tokens per min (TPM): Limit 30000, "
        "Used 29937, Requested 385. Please try again in {wait}. "
        "Visit https://platform.openai.com/account/rate-limits to learn more.",
    ),
    "server_error": _OpenAI(
        "server_error",
        None,
        None,
        "The server had an error while processing your request. Sorry about that!",
    ),
    "unavailable": _OpenAI("server_error", None, None, "Service unavailable."),
    "timeout": _OpenAI("server_error", None, None, "Request timed out."),
    "overloaded": _OpenAI(
        "service_unavailable_error",
        "server_is_overloaded",
        None,
        "Our servers are currently overloaded. Please try again later.",
    ),
}
_GEMINI: Mapping[ErrorKind, _Gemini] = {
    "invalid_request": _Gemini(
        "INVALID_ARGUMENT", "* GenerateContentRequest.contents: contents is not specified\n"
    ),
    "no_tools": _Gemini("INVALID_ARGUMENT", "Function calling is not supported by models/{model}"),
    "context_overflow": _Gemini(
        "INVALID_ARGUMENT",
        "The input token count (1250024) exceeds the maximum number of tokens allowed (1048576).",
    ),
    "authentication": _Gemini(
        "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", "API_KEY_INVALID"
    ),
    "quota": _Gemini(
        "PERMISSION_DENIED",
        "This API method requires billing to be enabled. Please enable billing on project #1.",
        "BILLING_DISABLED",
    ),
    "permission": _Gemini("PERMISSION_DENIED", "The caller does not have permission"),
    "not_found": _Gemini(
        "NOT_FOUND",
        "models/{model} is not found for API version v1beta, or is not supported for generateContent. "
        "Call ListModels to see the list of available models and their supported methods.",
    ),
    "too_large": _Gemini("INVALID_ARGUMENT", "Request payload size exceeds the limit: 20971520 bytes."),
    "rate_limit": _Gemini(
        "RESOURCE_EXHAUSTED",
        "You exceeded your current quota, please check your plan and billing details. "
        "* Quota exceeded for metric: generativelanguage.googleapis.com/generate_content_free_tier_requests, "
        "limit: 10\nPlease retry in {wait}.",
    ),
    "server_error": _Gemini("INTERNAL", "An internal error has occurred. Please retry."),
    "unavailable": _Gemini("UNAVAILABLE", "The service is currently unavailable."),
    "timeout": _Gemini("DEADLINE_EXCEEDED", "Deadline expired before operation could complete."),
    "overloaded": _Gemini("UNAVAILABLE", "The model is overloaded. Please try again later."),
}


def new_id(prefix: str) -> str:
    return prefix + secrets.token_hex(12)


def anthropic_error(kind: ErrorKind, message: str | None, model: str, request_id: str) -> dict[str, Any]:
    row = _ANTHROPIC[kind]
    text = message if message is not None else row.message.format(model=model)
    return {"type": "error", "error": {"type": row.type, "message": text}, "request_id": request_id}


def openai_error(
    kind: ErrorKind, message: str | None, model: str, retry_after: float | None = None
) -> dict[str, Any]:
    row = _OPENAI[kind]
    text = message if message is not None else row.message.format(model=model, wait=_span(retry_after))
    return {"error": {"message": text, "type": row.type, "param": row.param, "code": row.code}}


def gemini_error(
    kind: ErrorKind, message: str | None, model: str, retry_after: float | None = None
) -> tuple[int, dict[str, Any]]:
    """The usual status, and the body: the time to wait is in it, not in a header."""
    row = _GEMINI[kind]
    wait = f"{retry_after or 1:g}s"
    text = message if message is not None else row.message.format(model=model, wait=wait)
    details: list[dict[str, Any]] = []
    if row.reason is not None:
        info = {"reason": row.reason, "domain": "googleapis.com"}
        details.append({"@type": "type.googleapis.com/google.rpc.ErrorInfo", **info})
    if kind == "rate_limit" or retry_after is not None:
        details.append({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": wait})
    status = _GEMINI_STATUS[kind]
    error = {"code": status, "message": text, "status": row.status}
    return status, {"error": error | {"details": details} if details else error}


def gemini_failure(failure: Failure, model: str) -> HttpAnswer:
    status, kind = _resolve(failure, _GEMINI_STATUS)
    _, body = gemini_error(kind, failure.message, model, failure.retry_after)
    body["error"]["code"] = status
    return HttpAnswer(status, failure.headers, json.encode(body))


def anthropic_failure(failure: Failure, model: str) -> HttpAnswer:
    status, kind = _resolve(failure, _ANTHROPIC_STATUS)
    request_id = new_id("req_")
    headers = {"request-id": request_id, **_retry_headers(failure, status)}
    if status == 429:
        wait = timedelta(seconds=failure.retry_after or 1)
        reset = (datetime.now(UTC) + wait).strftime("%Y-%m-%dT%H:%M:%SZ")
        limits = {"requests": 50, "tokens": 38000, "input-tokens": 30000, "output-tokens": 8000}
        for name, limit in limits.items():
            prefix = f"anthropic-ratelimit-{name}"
            headers |= {f"{prefix}-limit": str(limit), f"{prefix}-remaining": "0", f"{prefix}-reset": reset}
    body = anthropic_error(kind, failure.message, model, request_id)
    return HttpAnswer(status, {**headers, **failure.headers}, json.encode(body))


def openai_failure(failure: Failure, model: str) -> HttpAnswer:
    status, kind = _resolve(failure, _OPENAI_STATUS)
    headers = {"x-request-id": new_id("req_"), **_retry_headers(failure, status)}
    if kind == "rate_limit":
        for name, limit in {"requests": 500, "tokens": 30000}.items():
            headers |= {
                f"x-ratelimit-limit-{name}": str(limit),
                f"x-ratelimit-remaining-{name}": "0",
                f"x-ratelimit-reset-{name}": _span(failure.retry_after),
            }
    body = openai_error(kind, failure.message, model, failure.retry_after)
    return HttpAnswer(status, {**headers, **failure.headers}, json.encode(body))


def _resolve(failure: Failure, statuses: Mapping[ErrorKind, int]) -> tuple[int, ErrorKind]:
    kind, status = failure.kind, failure.status
    if kind is not None:
        return status or statuses[kind], kind
    status = status or 500
    return status, _KIND.get(status, "server_error" if status >= 500 else "invalid_request")


def _retry_headers(failure: Failure, status: int) -> dict[str, str]:
    headers = {"x-should-retry": "true" if status in _RETRIED else "false"}
    if failure.retry_after is not None:
        headers["retry-after"] = f"{failure.retry_after:g}"
    return headers


def _span(seconds: float | None) -> str:
    """A duration as OpenAI writes it: 644ms, 6s, 1m30s."""
    seconds = seconds or 1.0
    if seconds < 1:
        return f"{round(seconds * 1000)}ms"
    minutes, rest = divmod(seconds, 60)
    return f"{int(minutes)}m{rest:g}s" if minutes else f"{rest:g}s"
