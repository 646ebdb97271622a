"""The console's page and its files, under headers that let it reach this engine and no other.

No text it shows can become code: scripts come from here alone, and the browser refuses to parse HTML from strings.
"""

from typing import Final

from fastapi import APIRouter, HTTPException, Response
from fastapi.responses import RedirectResponse

from aster.server import console
from aster.server.visit import Serving

router = APIRouter(include_in_schema=False)

POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "img-src 'self' data: blob:",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)
HEADERS: Final = {
    "Cache-Control": "no-cache",
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
}
LASTING: Final = {**HEADERS, "Cache-Control": "public, max-age=31536000, immutable"}


@router.get("/")
async def home() -> Response:
    return RedirectResponse(console.PATH.lstrip("/"), headers=HEADERS)


@router.get(console.PATH)
@router.get(console.PATH + "/{name:path}")
def file(engine: Serving, name: str = "") -> Response:
    found = console.find(name, engine.settings.console_dir)
    if found is None:
        raise HTTPException(404)
    return Response(found.content, headers=LASTING if found.lasting else HEADERS, media_type=found.kind)
