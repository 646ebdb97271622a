"""The console's page and its files: a closed list, under headers that let it reach this engine and no other.

No text it shows can become code: scripts come from here alone, and the browser refuses to parse HTML from strings.
"""

from typing import Final

from fastapi import APIRouter, HTTPException, Response
from fastapi.responses import RedirectResponse

from aster.server import console

router = APIRouter(include_in_schema=False)

POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "img-src 'self' data:",
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


@router.get("/")
async def home() -> Response:
    return RedirectResponse(console.PATH.lstrip("/"), headers=HEADERS)


@router.get(console.PATH)
def page() -> Response:
    return Response(console.read(console.PAGE), headers=HEADERS, media_type="text/html")


@router.get(console.PATH + "/{name}")
def asset(name: str) -> Response:
    kind = console.ASSETS.get(name)
    if kind is None:
        raise HTTPException(404)
    return Response(console.read(name), headers=HEADERS, media_type=kind)
