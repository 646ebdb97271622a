"""The engine's numbers for Prometheus. They are about everybody, so they are for the operator."""

from fastapi import APIRouter, Response
from fastapi.responses import PlainTextResponse

from aster.contracts.errors import ErrorCode
from aster.raven.metrics import CONTENT_TYPE
from aster.server.errors import refusals
from aster.server.visit import KEYED, Learning, Operating, Serving

router = APIRouter(tags=["operation"], dependencies=KEYED)


@router.get(
    "/metrics",
    summary="Metrics in the Prometheus text format",
    response_class=PlainTextResponse,
    responses={
        **refusals(ErrorCode.PERMISSION_DENIED),
        200: {"description": "The metrics.", "content": {"text/plain": {"schema": {"type": "string"}}}},
    },
)
async def metrics(engine: Serving, learning: Learning, _: Operating) -> Response:
    """Needs the engine's key, or a key of the user `default`."""
    await learning.measure()
    return Response(await engine.measure(), headers={"Content-Type": CONTENT_TYPE})
