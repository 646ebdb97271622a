"""Every code has a status, a piece of advice and a meaning; the documented ones have the documented status."""

import pytest

from aster.contracts.errors import CODES, EngineError, ErrorBody, ErrorCode
from aster.contracts.model import decode, encode

DOCUMENTED = {
    "INVALID_KEY": 401,
    "KEY_ROTATION_PENDING": 401,
    "TASK_NOT_FOUND": 404,
    "HITL_REQUIRED": 409,
    "LLM_RATE_LIMITED": 429,
    "LLM_PROVIDER_ERROR": 502,
    "CONTEXT_OVERFLOW": 422,
    "PERMISSION_DENIED": 403,
    "MCP_CONNECTION_FAILED": 502,
    "MCP_TOKEN_EXPIRED": 401,
    "MIGRATION_REQUIRED": 503,
    "TASK_BUSY": 409,
    "INVALID_REQUEST": 422,
    "SLOTS_EXHAUSTED": 503,
    "DRAINING": 503,
    "BUDGET_EXCEEDED": 402,
    "LLM_TIMEOUT": 504,
    "TOOL_IN_DOUBT": 409,
    "NOT_FOUND": 404,
    "PAYLOAD_TOO_LARGE": 413,
    "RATE_LIMITED": 429,
}


@pytest.mark.parametrize("code", ErrorCode)
def test_every_code_says_what_it_means_and_what_to_do(code: ErrorCode) -> None:
    facts = CODES[code]
    assert 400 <= facts.status < 600
    assert facts.retry in ("never", "now", "after", "ask")
    assert len(facts.meaning) > 20
    assert facts.meaning.endswith(".")
    assert code.name == code.value


def test_the_table_holds_nothing_else() -> None:
    assert list(CODES) == list(ErrorCode)


@pytest.mark.parametrize(("code", "status"), DOCUMENTED.items())
def test_the_documented_codes_keep_their_status(code: str, status: int) -> None:
    assert CODES[ErrorCode(code)].status == status


def test_a_code_to_be_tried_later_is_a_matter_of_load() -> None:
    later = {code for code, facts in CODES.items() if facts.retry == "after"}
    assert all(CODES[code].status in (409, 429, 503) for code in later)


def test_an_error_becomes_the_envelope() -> None:
    error = EngineError(ErrorCode.TASK_BUSY, "Wait for it.", {"turn_id": "t"}, retry_after=1.23456)
    assert (error.status, error.retry, str(error)) == (409, "after", "Wait for it.")
    body = error.body()
    assert body.details == {"turn_id": "t", "retry_after_seconds": 1.235}
    assert error.details == {"turn_id": "t"}
    assert decode(encode(body), ErrorBody) == body
    assert encode(EngineError(ErrorCode.NOT_FOUND, "No.").body()) == (
        b'{"error":"NOT_FOUND","message":"No.","retry":"never"}'
    )
