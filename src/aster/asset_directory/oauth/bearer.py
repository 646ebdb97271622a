"""Requests to a server that say who asks: each with a token that is good when it is sent.

A server that refuses a token gets another one, once. If it refuses that too, or wants more than was allowed, its answer
is replaced by one that only this process can write, so that the call it belongs to, and no other, is known to need a
person.
"""

import secrets
from functools import cache
from typing import Any, Final

import httpx2

from aster.asset_directory.credentials import NeedsLogin
from aster.asset_directory.held import Held
from aster.asset_directory.oauth.addresses import origin
from aster.asset_directory.oauth.metadata import challenge
from aster.asset_directory.oauth.renewal import Renewal
from aster.contracts.errors import EngineError

_UNAUTHORISED: Final = 401
_FORBIDDEN: Final = 403
_CODE: Final = -32099


class BearerTransport(httpx2.AsyncBaseTransport):
    def __init__(self, inner: httpx2.AsyncBaseTransport, held: Held, renewal: Renewal) -> None:
        self._inner = inner
        self._held = held
        self._renewal = renewal
        self._home = origin(held.server.url or "")

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if origin(str(request.url)) != self._home:
            return await self._inner.handle_async_request(request)
        refused = ""
        try:
            for _ in range(2):
                token = await self._renewal.token(self._held, refused)
                request.headers["Authorization"] = f"Bearer {token}"
                answer = await self._inner.handle_async_request(request)
                if answer.status_code != _UNAUTHORISED:
                    return await self._judged(answer)
                await answer.aclose()
                refused = token
        except NeedsLogin:
            pass
        except EngineError as error:
            raise httpx2.ConnectError(error.message) from error
        self._held.refuse("credentials")
        return _marked(_UNAUTHORISED)

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def _judged(self, answer: httpx2.Response) -> httpx2.Response:
        """An answer, unless it is that the person has allowed too little."""
        if answer.status_code != _FORBIDDEN:
            return answer
        said = challenge(answer.headers.get_list("www-authenticate"))
        if said.error != "insufficient_scope":
            return answer
        await answer.aclose()
        self._held.refuse("credentials", said.scopes)
        return _marked(_FORBIDDEN)


@cache
def _mark() -> str:
    """What no server can know."""
    return secrets.token_hex(16)


def needs_person(data: Any) -> bool:
    """Whether an error is one that says that a person has to log in."""
    return data == _mark()


def _marked(status: int) -> httpx2.Response:
    error = {"code": _CODE, "message": "A person has to log in.", "data": _mark()}
    return httpx2.Response(status, json={"jsonrpc": "2.0", "id": None, "error": error})
