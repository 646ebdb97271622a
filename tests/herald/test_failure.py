"""A failure's kind decides its code, its advice and whether to try again."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from aster.contracts.errors import ErrorCode
from aster.herald.failure import FailureKind, HeraldError, kind_of_status, retry_after


@pytest.mark.parametrize(
    ("kind", "code", "retry"),
    [
        (FailureKind.RATE_LIMITED, ErrorCode.LLM_RATE_LIMITED, "after"),
        (FailureKind.OVERLOADED, ErrorCode.LLM_PROVIDER_ERROR, "now"),
        (FailureKind.TIMEOUT, ErrorCode.LLM_TIMEOUT, "now"),
        (FailureKind.TRANSPORT, ErrorCode.LLM_PROVIDER_ERROR, "now"),
        (FailureKind.PROVIDER, ErrorCode.LLM_PROVIDER_ERROR, "now"),
        (FailureKind.OVERFLOW, ErrorCode.CONTEXT_OVERFLOW, "never"),
        (FailureKind.AUTH, ErrorCode.LLM_PROVIDER_ERROR, "never"),
        (FailureKind.BAD_REQUEST, ErrorCode.LLM_PROVIDER_ERROR, "never"),
        (FailureKind.REFUSED_MEDIA, ErrorCode.LLM_PROVIDER_ERROR, "never"),
    ],
)
def test_every_kind(kind: FailureKind, code: ErrorCode, retry: str) -> None:
    error = HeraldError(kind, "why", status=400, provider_code="x")
    assert (error.code, error.retry, error.retryable) == (code, retry, retry != "never")
    assert error.message.endswith("(why)")
    assert error.body().details == {"kind": kind.value, "status": 400, "provider_code": "x"}


def test_a_known_wait_means_after() -> None:
    error = HeraldError(FailureKind.OVERLOADED, retry_after=2.5)
    assert error.retry == "after"
    assert error.body().details == {"kind": "overloaded", "retry_after_seconds": 2.5}


def test_a_repeated_key_is_hidden() -> None:
    error = HeraldError(FailureKind.AUTH, "no such key: sk-secret!").hide("sk-secret")
    assert "sk-secret" not in repr(error)
    assert "sk-secret" not in str(error.body())
    assert error.message.endswith("(no such key: [key]!)")


def test_what_the_provider_says_is_bounded() -> None:
    assert len(HeraldError(FailureKind.PROVIDER, "x" * 100_000).message) < 3000


@pytest.mark.parametrize(
    ("status", "kind"),
    [(400, "bad_request"), (401, "auth"), (403, "auth"), (404, "bad_request"), (408, "timeout"), (413, "overflow"),
     (429, "rate_limited"), (500, "provider"), (502, "provider"), (503, "overloaded"), (504, "timeout"),
     (529, "overloaded"), (302, "bad_request")],
)  # fmt: skip
def test_status_alone(status: int, kind: str) -> None:
    assert kind_of_status(status) == kind


@pytest.mark.parametrize(
    "said",
    [
        "registry.ollama.ai/library/gemma:2b does not support tools",
        "tools param requires --jinja flag",
        '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
        "deepseek-reasoner does not support Function Calling",
        "`tool calling` is not supported with this model",
        "No endpoints found that support tool use. To learn more about provider routing, visit …",
        "openrouter/x does not support parameters: ['tools'], for model=x",
    ],
)
def test_a_refusal_of_tools_is_recognised(said: str) -> None:
    assert HeraldError(FailureKind.BAD_REQUEST, said, status=400).refuses_tools
    assert HeraldError(FailureKind.PROVIDER, said, status=500).refuses_tools
    assert not HeraldError(FailureKind.RATE_LIMITED, said, status=429).refuses_tools


@pytest.mark.parametrize(
    "said",
    [
        "",
        "tools.0.input_schema: JSON schema is invalid",
        "Invalid schema for function 'read_file'",
        "This model does not support image input.",
        "messages.3: tool_use ids were found without tool_result blocks",
    ],
)
def test_other_refusals_are_not_about_having_no_tools(said: str) -> None:
    assert not HeraldError(FailureKind.BAD_REQUEST, said, status=400).refuses_tools


def test_retry_after_forms() -> None:
    assert retry_after({}) is None
    assert retry_after({"retry-after": "2"}) == 2.0
    assert retry_after({"retry-after": "0.25"}) == 0.25
    assert retry_after({"retry-after": "9", "retry-after-ms": "1500"}) == 1.5
    assert retry_after({"retry-after": "soon"}) is None
    assert retry_after({"retry-after": "-1"}) is None
    assert retry_after({"retry-after": "nan"}) is None
    moment = datetime.now(UTC) + timedelta(seconds=30)
    seconds = retry_after({"retry-after": format_datetime(moment, usegmt=True)})
    assert seconds is not None
    assert 25 < seconds <= 30
    assert retry_after({"retry-after": "Wed, 21 Oct 2015 07:28:00 -0000"}) == 0.0
