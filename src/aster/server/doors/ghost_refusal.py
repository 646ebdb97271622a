"""Errors in the shape that clients of `/api/chat` and its neighbours know: `{"error": {message, type, id}}`.

The id is the request's: the log has what happened under it, and the wire has no more than a sentence for people.
"""

from typing import Any, Final

from aster.contracts.errors import EngineError, ErrorBody, ErrorCode
from aster.contracts.model import encode

PATHS: Final = frozenset({"/api/chat", "/chat", "/api/generate", "/api/show", "/api/turn/cancel"})

_TYPES: Final = {
    ErrorCode.INVALID_REQUEST: "InvalidRequestShape",
    ErrorCode.MALFORMED_REQUEST: "InvalidRequestShape",
    ErrorCode.NOT_FOUND: "ModelNotFound",
    ErrorCode.PAYLOAD_TOO_LARGE: "RequestTooLarge",
}


def shaped(error: EngineError) -> bytes:
    """The body of a refusal."""
    return encode(described(error.body()))


def described(body: ErrorBody, request_id: str | None = None) -> dict[str, Any]:
    """What is said of an error, in an answer or in the middle of a stream."""
    kind = _TYPES.get(body.error) or body.error.title().replace("_", "")
    said: dict[str, Any] = {"message": body.message, "type": kind, "code": body.error}
    return {"error": said if request_id is None else {**said, "id": request_id}}
