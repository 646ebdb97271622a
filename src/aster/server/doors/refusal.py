"""Errors in the shape that clients of the `/v1` doors know: `{"error": {message, type, param, code}}`.

Every failure keeps its sentence. The code is ours in small letters, but for the few that such clients route on; those
have the name and the HTTP status they are known by there.
"""

from typing import Any, Final, NamedTuple

from aster.contracts.errors import EngineError, ErrorBody, ErrorCode
from aster.contracts.model import encode

PREFIX: Final = "/v1/"

_TYPES: Final = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    409: "conflict_error",
    429: "rate_limit_error",
}


class Known(NamedTuple):
    """What a code is called at these doors, where that is not its own name."""

    status: int
    code: str
    type: str | None = None


_KNOWN: Final = {
    ErrorCode.INVALID_KEY: Known(401, "invalid_api_key"),
    ErrorCode.INVALID_REQUEST: Known(400, "invalid_value"),
    ErrorCode.MALFORMED_REQUEST: Known(400, "invalid_json"),
    ErrorCode.CONTEXT_OVERFLOW: Known(400, "context_length_exceeded"),
    ErrorCode.BUDGET_EXCEEDED: Known(429, "insufficient_quota", "insufficient_quota"),
    ErrorCode.LLM_RATE_LIMITED: Known(429, "rate_limit_exceeded"),
    ErrorCode.RATE_LIMITED: Known(429, "rate_limit_exceeded"),
}


def status_of(error: EngineError) -> int:
    known = _KNOWN.get(error.code)
    return error.status if known is None else known.status


def shaped(error: EngineError) -> bytes:
    """The body of a refusal."""
    return encode({"error": described(error.body(), status_of(error))})


def described(body: ErrorBody, status: int) -> dict[str, Any]:
    """What is said of an error, in an answer or in the middle of a stream."""
    known = _KNOWN.get(body.error)
    details = body.details or {}
    fields: list[dict[str, str]] = details.get("fields") or []
    code = known.code if known is not None else body.error.lower()
    return {
        "message": body.message,
        "type": (known.type if known is not None else None) or _TYPES.get(status, "server_error"),
        "param": fields[0]["field"] if fields else None,
        "code": details.get("code") or code,
    }
