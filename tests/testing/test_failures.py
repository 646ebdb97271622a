"""Errors in the providers' words, as their own clients classify them."""

from datetime import datetime
from typing import Any

import anthropic
import openai
import pytest
from anthropic import AsyncAnthropic
from openai import AsyncOpenAI

from aster.testing import ErrorKind, Failure, ModelServer

ASK: dict[str, Any] = {"model": "some-model", "messages": [{"role": "user", "content": "hi"}]}


async def refused_by_claude(claude: AsyncAnthropic) -> anthropic.APIStatusError:
    with pytest.raises(anthropic.APIStatusError) as caught:
        await claude.messages.create(**ASK, max_tokens=10, stream=True)
    return caught.value


async def refused_by_gpt(gpt: AsyncOpenAI) -> openai.APIStatusError:
    with pytest.raises(openai.APIStatusError) as caught:
        await gpt.chat.completions.create(**ASK, stream=True)
    return caught.value


@pytest.mark.parametrize(
    ("status", "kind", "expected", "type_"),
    [
        (400, None, anthropic.BadRequestError, "invalid_request_error"),
        (401, None, anthropic.AuthenticationError, "authentication_error"),
        (402, None, anthropic.APIStatusError, "billing_error"),
        (403, None, anthropic.PermissionDeniedError, "permission_error"),
        (404, None, anthropic.NotFoundError, "not_found_error"),
        (413, None, anthropic.ContentTooLargeError, "request_too_large"),
        (429, None, anthropic.RateLimitError, "rate_limit_error"),
        (500, None, anthropic.InternalServerError, "api_error"),
        (502, None, anthropic.InternalServerError, "api_error"),
        (503, None, anthropic.ServiceUnavailableError, "api_error"),
        (None, "timeout", anthropic.GatewayTimeoutError, "timeout_error"),
        (529, None, anthropic.OverloadedError, "overloaded_error"),
        (None, "overloaded", anthropic.OverloadedError, "overloaded_error"),
        (None, None, anthropic.InternalServerError, "api_error"),
        (200 + 218, None, anthropic.APIStatusError, "invalid_request_error"),
    ],
)
async def test_anthropic(
    server: ModelServer,
    claude: AsyncAnthropic,
    status: int | None,
    kind: ErrorKind | None,
    expected: type[anthropic.APIStatusError],
    type_: str,
) -> None:
    server.enqueue(Failure(status, kind))
    error = await refused_by_claude(claude)
    assert isinstance(error, expected)
    assert error.type == type_
    assert error.request_id is not None
    assert error.api_message
    assert server.calls[0].status == error.status_code


@pytest.mark.parametrize(
    ("status", "kind", "expected", "code"),
    [
        (400, None, openai.BadRequestError, None),
        (401, None, openai.AuthenticationError, "invalid_api_key"),
        (403, None, openai.PermissionDeniedError, "missing_scope"),
        (404, None, openai.NotFoundError, "model_not_found"),
        (429, None, openai.RateLimitError, "rate_limit_exceeded"),
        (None, "quota", openai.RateLimitError, "insufficient_quota"),
        (500, None, openai.InternalServerError, None),
        (None, "overloaded", openai.InternalServerError, "server_is_overloaded"),
        (503, None, openai.InternalServerError, None),
    ],
)
async def test_openai(
    server: ModelServer,
    gpt: AsyncOpenAI,
    status: int | None,
    kind: ErrorKind | None,
    expected: type[openai.APIStatusError],
    code: str | None,
) -> None:
    server.enqueue(Failure(status, kind))
    error = await refused_by_gpt(gpt)
    assert isinstance(error, expected)
    assert error.code == code
    assert error.request_id is not None


async def test_context_overflow_in_the_words_of_each(
    server: ModelServer, claude: AsyncAnthropic, gpt: AsyncOpenAI
) -> None:
    server.enqueue(*[Failure(kind="context_overflow")] * 2)
    ours = await refused_by_claude(claude)
    assert ours.status_code == 400
    assert (ours.api_message or "").startswith("prompt is too long: ")
    theirs = await refused_by_gpt(gpt)
    assert (theirs.status_code, theirs.code, theirs.param) == (400, "context_length_exceeded", "messages")
    assert "maximum context length is" in theirs.message


async def test_a_message_of_ones_own(server: ModelServer, claude: AsyncAnthropic, gpt: AsyncOpenAI) -> None:
    server.enqueue(*[Failure(500, message="{braces} stay", headers={"x-mine": "1"})] * 2)
    ours = await refused_by_claude(claude)
    assert ours.api_message == "{braces} stay"
    theirs = await refused_by_gpt(gpt)
    assert "{braces} stay" in theirs.message
    assert ours.response.headers["x-mine"] == theirs.response.headers["x-mine"] == "1"


async def test_rate_limit_headers_of_anthropic(server: ModelServer, claude: AsyncAnthropic) -> None:
    server.enqueue(Failure(429, retry_after=7))
    headers = (await refused_by_claude(claude)).response.headers
    assert headers["retry-after"] == "7"
    assert headers["anthropic-ratelimit-input-tokens-remaining"] == "0"
    assert datetime.fromisoformat(headers["anthropic-ratelimit-requests-reset"]).tzinfo is not None
    assert headers["x-should-retry"] == "true"


@pytest.mark.parametrize(("wait", "span"), [(0.25, "250ms"), (6, "6s"), (90, "1m30s"), (None, "1s")])
async def test_rate_limit_headers_of_openai(
    server: ModelServer, gpt: AsyncOpenAI, wait: float | None, span: str
) -> None:
    server.enqueue(Failure(429, retry_after=wait))
    error = await refused_by_gpt(gpt)
    assert error.response.headers.get("retry-after") == (None if wait is None else f"{wait:g}")
    assert error.response.headers["x-ratelimit-reset-tokens"] == span
    assert f"Please try again in {span}." in error.message


async def test_clients_retry_what_they_should(server: ModelServer) -> None:
    server.enqueue(Failure(529), Failure(429, retry_after=0.01), Failure(400))
    async with AsyncAnthropic(base_url=server.url, api_key="k", max_retries=5) as client:
        with pytest.raises(anthropic.BadRequestError):
            await client.messages.create(**ASK, max_tokens=10)
    assert [call.status for call in server.calls] == [529, 429, 400]
