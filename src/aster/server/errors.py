"""Every answer that is not 2xx is the documented envelope, whoever refused: the engine, the router or the parser.

A failure nobody foresaw says the request id and nothing else; what happened is in the log under that id.
"""

from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any, Final, cast

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from aster.contracts.errors import CODES, EngineError, ErrorCode, Retry
from aster.contracts.model import encode
from aster.server.doors import ghost_refusal, refusal

_BY_STATUS: Final = {
    400: ErrorCode.MALFORMED_REQUEST,
    404: ErrorCode.NOT_FOUND,
    405: ErrorCode.METHOD_NOT_ALLOWED,
    413: ErrorCode.PAYLOAD_TOO_LARGE,
    415: ErrorCode.UNSUPPORTED_MEDIA_TYPE,
}
_PLACES: Final = frozenset({"body", "query", "path", "header"})
_UNION_TAGS: Final = frozenset({"text", "image", "document", "base64", "url"})
_SHOWN_FIELDS: Final = 20


class ErrorAnswer(BaseModel):
    """The envelope of every answer that is not 2xx. Route on `error`; the sentence is for people."""

    error: ErrorCode = Field(description="The code: public, never renamed.")
    message: str = Field(description="What is wrong and what to do about it.")
    retry: Retry = Field(
        description="Whether to try again: `never`, `now`, `after` (see Retry-After), or `ask` a person first."
    )
    details: dict[str, Any] | None = Field(
        None, description="For INVALID_REQUEST: `fields`, a list of `{field, problem}`. Otherwise as the code says."
    )


def refusals(*codes: ErrorCode) -> dict[int | str, dict[str, Any]]:
    """What a route may answer besides success, for its reference page."""
    always = (ErrorCode.INVALID_KEY, ErrorCode.KEY_ROTATION_PENDING, ErrorCode.ORIGIN_REFUSED, ErrorCode.INTERNAL)
    grouped: dict[int | str, list[ErrorCode]] = {}
    for code in dict.fromkeys((*always, *codes)):
        grouped.setdefault(CODES[code].status, []).append(code)
    return {
        status: {
            "model": ErrorAnswer,
            "description": "\n".join(f"`{code}`: {CODES[code].meaning}" for code in found),
        }
        for status, found in sorted(grouped.items(), key=lambda item: int(item[0]))
    }


def answer(error: EngineError, headers: Mapping[str, str] | None = None, path: str = "") -> Response:
    """The response that says an error, in the shape that clients of this path know."""
    extra = dict(headers or {})
    if error.retry_after is not None:
        extra["Retry-After"] = str(max(1, ceil(error.retry_after)))
    if error.status == 401:
        extra["WWW-Authenticate"] = 'Bearer realm="aster"'
    if path.startswith(refusal.PREFIX):
        return Response(refusal.shaped(error), refusal.status_of(error), extra, "application/json")
    body = ghost_refusal.shaped(error) if path in ghost_refusal.PATHS else encode(error.body())
    return Response(body, error.status, extra, "application/json")


def install(app: FastAPI) -> None:
    app.add_exception_handler(EngineError, _engine_error)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _refused)


async def _engine_error(request: Request, error: Exception) -> Response:
    return answer(cast("EngineError", error), path=request.url.path)


async def _refused(request: Request, error: Exception) -> Response:
    refused = cast("HTTPException", error)
    code = _BY_STATUS.get(refused.status_code, ErrorCode.INVALID_REQUEST)
    path = request.url.path[:200]
    sentences = {
        ErrorCode.NOT_FOUND: f"There is no route {request.method} {path}. GET /openapi.json lists them.",
        ErrorCode.METHOD_NOT_ALLOWED: f"{path} does not take {request.method}.",
        ErrorCode.MALFORMED_REQUEST: "The body could not be read as JSON in UTF-8. Send one JSON object.",
    }
    return answer(EngineError(code, sentences.get(code, str(refused.detail))), refused.headers, request.url.path)


async def _invalid(request: Request, error: Exception) -> Response:
    found = cast("Sequence[dict[str, Any]]", cast("RequestValidationError", error).errors())
    broken = next((item for item in found if item["type"] == "json_invalid"), None)
    if broken is not None:
        where = broken["loc"][-1]
        sentence = f"The body is not valid JSON: {broken['ctx']['error']} at character {where}."
        return answer(EngineError(ErrorCode.MALFORMED_REQUEST, sentence), path=request.url.path)
    fields = [{"field": field_name(item), "problem": _problem(item)} for item in found[:_SHOWN_FIELDS]]
    said = "; ".join(f"`{item['field']}` {item['problem']}" for item in fields)
    return answer(
        EngineError(ErrorCode.INVALID_REQUEST, f"Correct this and send it again: {said}.", {"fields": fields}),
        path=request.url.path,
    )


def field_name(item: Mapping[str, Any]) -> str:
    """`media.0.source.data` for where pydantic found a problem, without the tags of the unions on the way."""
    named = item.get("ctx", {}).get("field")
    if named:
        return str(named)
    parts = [str(part) for part in item["loc"]]
    if len(parts) > 1 and parts[0] in _PLACES:
        parts = parts[1:]
    last = len(parts) - 1
    return ".".join(part for index, part in enumerate(parts) if index == last or part not in _UNION_TAGS)


def _problem(item: Mapping[str, Any]) -> str:
    said = str(item["msg"])
    if item["type"] == "missing":
        return "is missing"
    if item["type"] in ("too_short", "string_too_short") and item["ctx"]["min_length"] == 1:
        return "may not be empty"
    if item["type"] in ("datetime_parsing", "datetime_from_date_parsing"):
        return "has to be a time, such as 2027-01-04T09:00:00+01:00"
    return said[:1].lower() + said[1:]
