"""What a handler is told about the request beyond its body: the engine, who calls, and the request's id."""

from dataclasses import dataclass
from typing import Annotated, Final, cast

from fastapi import Depends, Request, Security
from fastapi.security import APIKeyHeader, HTTPBearer

from aster.contracts.errors import EngineError, ErrorCode
from aster.engine_core.engine import Engine
from aster.learning_centre.centre import LearningCentre
from aster.server.auth import Caller

SCOPE: Final = "aster.visit"


@dataclass(frozen=True, slots=True)
class Visit:
    """One admitted request. Put into the scope by the guard, which alone knows the key."""

    request_id: str
    caller: Caller

    @property
    def user_id(self) -> str:
        return self.caller.user_id


async def _visit(request: Request) -> Visit:
    return cast("Visit", request.scope[SCOPE])


async def _operator(request: Request) -> Visit:
    visit = cast("Visit", request.scope[SCOPE])
    if not visit.caller.operator:
        raise EngineError(
            ErrorCode.PERMISSION_DENIED, "This is for the operator of the engine: use the engine's key."
        )
    return visit


async def _engine(request: Request) -> Engine:
    return cast("Engine", request.app.state.engine)


async def _learning(request: Request) -> LearningCentre:
    return cast("LearningCentre", request.app.state.learning)


Visiting = Annotated[Visit, Depends(_visit)]
Operating = Annotated[Visit, Depends(_operator)]
Serving = Annotated[Engine, Depends(_engine)]
Learning = Annotated[LearningCentre, Depends(_learning)]

KEYED = [
    Security(
        APIKeyHeader(name="X-Engine-Key", scheme_name="EngineKey", auto_error=False, description="The key itself.")
    ),
    Security(HTTPBearer(scheme_name="Bearer", auto_error=False, description="The key as a bearer token.")),
    Security(
        APIKeyHeader(name="X-Ghost-Key", scheme_name="GhostKey", auto_error=False, description="The same key.")
    ),
]
"""The three ways to send a key, for the reference page; the guard has checked it long before."""
