"""Logins to connected servers: the links that people open, and where their browsers come back to.

Who comes back from a login page brings no key. A random word that was given out once, to one user, is all that counts;
nothing that was sent along is ever repeated in an answer.
"""

from html import escape
from typing import Annotated, Any, Final

from fastapi import APIRouter, Header, Query
from fastapi.responses import HTMLResponse, JSONResponse, Response
from pydantic import BaseModel, Field

from aster.asset_directory.oauth.logins import CALLBACK, DOCUMENT, Returned
from aster.contracts.assets import Connection
from aster.contracts.errors import EngineError, ErrorCode
from aster.server.errors import answer, refusals
from aster.server.media import Part
from aster.server.routes.assets import ConnectionEntry, RefId
from aster.server.visit import KEYED, Operating, Serving, Visiting

router = APIRouter(tags=["assets"])

OPEN_PATHS: Final = frozenset({CALLBACK, DOCUMENT})
Word = Annotated[str, Field(max_length=4000)]
_HEADERS: Final = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
}
_PAGE: Final = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title></head>'
    "<body><h1>{title}</h1><p>{text}</p></body></html>"
)


class CallbackBody(Part):
    """What a login page sent a browser back with."""

    state: Word
    code: Word = ""
    iss: Word | None = None
    error: Word = ""


class RotationAnswer(BaseModel):
    renewed: int = Field(description="Credentials that were stored again, under the newest key.")
    current: int = Field(description="Credentials that were under the newest key already.")
    lost: int = Field(description="Credentials that no key opens; their servers have to be connected again.")


@router.get(
    CALLBACK,
    summary="Come back from a login page",
    response_model=ConnectionEntry,
    responses=refusals(ErrorCode.INVALID_REQUEST, ErrorCode.MCP_CONNECTION_FAILED),
)
async def login_returned(
    engine: Serving,
    state: Annotated[Word, Query()] = "",
    code: Annotated[Word, Query()] = "",
    iss: Annotated[Word | None, Query()] = None,
    error: Annotated[Word, Query()] = "",
    accept: Annotated[str, Header()] = "",
) -> Response:
    """Where authorization servers send browsers, without a key: `state` says whose login it is, and works once."""
    try:
        connection = await engine.log_in(Returned(state, code, iss, error))
    except EngineError as refused:
        if "text/html" not in accept:
            return answer(refused, _HEADERS)
        return _page("Not logged in", refused.message, 400)
    if "text/html" not in accept:
        return JSONResponse(ConnectionEntry.of(connection).model_dump(), headers=_HEADERS)
    return _page(*_said(connection))


@router.get(
    DOCUMENT,
    summary="The engine as a client of authorization servers",
    response_model=dict[str, Any],
    responses=refusals(ErrorCode.CONFIGURATION_INVALID),
)
async def client_document(engine: Serving) -> dict[str, object]:
    """For authorization servers that look clients up by their address; it is the same for everybody."""
    return engine.assets.desk.document()


@router.post(
    "/assets/callback",
    summary="Finish a login",
    response_model=ConnectionEntry,
    dependencies=KEYED,
    responses=refusals(
        ErrorCode.MALFORMED_REQUEST,
        ErrorCode.INVALID_REQUEST,
        ErrorCode.UNSUPPORTED_MEDIA_TYPE,
        ErrorCode.MCP_CONNECTION_FAILED,
    ),
)
async def finish_login(engine: Serving, visit: Visiting, body: CallbackBody) -> ConnectionEntry:
    """For an application that browsers come back to in the engine's place; the login has to be your own."""
    back = Returned(body.state, body.code, body.iss, body.error)
    return ConnectionEntry.of(await engine.log_in(back, visit.user_id))


@router.post(
    "/assets/connections/{ref_id}/login",
    summary="Ask for a new login link",
    response_model=ConnectionEntry,
    dependencies=KEYED,
    responses=refusals(
        ErrorCode.INVALID_REQUEST,
        ErrorCode.NOT_FOUND,
        ErrorCode.MCP_CONNECTION_FAILED,
        ErrorCode.CONFIGURATION_INVALID,
    ),
)
async def login_link(engine: Serving, visit: Visiting, ref_id: RefId) -> ConnectionEntry:
    """Open `auth_url` in a browser. Calls that wait for the login go on when it is finished; until then the login there
    was goes on too."""
    return ConnectionEntry.of(await engine.assets.desk.link(visit.user_id, ref_id))


@router.post(
    "/assets/rotate-key",
    summary="Store all credentials under the newest key",
    response_model=RotationAnswer,
    dependencies=KEYED,
    responses=refusals(ErrorCode.PERMISSION_DENIED),
)
async def rotate_credentials_key(engine: Serving, visit: Operating) -> RotationAnswer:
    """For the operator, after a newer key was put first into AD_ENCRYPTION_KEY; without one, the engine makes a new key
    of its own. It may be interrupted and called again."""
    del visit
    done = await engine.assets.rotate_key()
    engine.raven.note("key_rotated", "info", "credentials were stored under the newest key", renewed=done.renewed)
    return RotationAnswer(renewed=done.renewed, current=done.current, lost=done.lost)


def _said(connection: Connection) -> tuple[str, str]:
    name = connection.server_name
    if connection.status == "connected":
        return "Logged in", f"The server {name} is connected. You can close this page."
    return "Logged in, but", connection.reason or f"the server {name} cannot be used yet."


def _page(title: str, text: str, status: int = 200) -> HTMLResponse:
    return HTMLResponse(_PAGE.format(title=escape(title), text=escape(text)), status, _HEADERS)
