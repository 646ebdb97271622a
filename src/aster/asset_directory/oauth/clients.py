"""Who the engine is to an authorization server: the client the operator registered, the address of a document that
describes the engine, or a client that the engine registers now (RFC 7591), in this order.
"""

from collections.abc import Sequence
from typing import Any, Final

from aster.asset_directory.oauth import addresses
from aster.asset_directory.oauth.login import Client, TokenAuth
from aster.asset_directory.oauth.metadata import Authority
from aster.asset_directory.oauth.wire import Wire
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.model import Contract
from aster.infra.clock import now_ms

NAME: Final = "Aster"
_ORDER: Final[tuple[TokenAuth, ...]] = ("none", "client_secret_basic", "client_secret_post")


class Registered(Contract):
    """What an authorization server says of a client it has registered."""

    client_id: str = ""
    client_secret: str | None = None
    token_endpoint_auth_method: str | None = None
    client_secret_expires_at: int = 0


def described(redirect_uri: str, auth: TokenAuth = "none") -> dict[str, Any]:
    """The engine as a client."""
    return {
        "client_name": NAME,
        "redirect_uris": [redirect_uri],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": auth,
        "application_type": "native" if addresses.on_this_machine(redirect_uri) else "web",
    }


def given(client_id: str, secret: str | None, authority: Authority, redirect_uri: str) -> Client:
    """The client that the operator registered."""
    ways = authority.token_endpoint_auth_methods_supported
    auth: TokenAuth = "none"
    if secret:
        post = "client_secret_post" in ways and "client_secret_basic" not in ways
        auth = "client_secret_post" if post else "client_secret_basic"
    return Client(
        client_id=client_id, client_secret=secret, auth=auth, issuer=authority.issuer, redirect_uri=redirect_uri
    )


def usable(known: Client | None, authority: Authority, redirect_uri: str) -> Client | None:
    """The client of an earlier login, if it can be used again."""
    if known is None or not known.client_id or known.redirect_uri != redirect_uri:
        return None
    lasting = known.expires_at is None or known.expires_at > now_ms()
    return known if lasting and addresses.same(known.issuer, authority.issuer) else None


async def register(wire: Wire, authority: Authority, redirect_uri: str) -> Client:
    """Have the engine registered."""
    if authority.registration_endpoint is None:
        raise EngineError(
            ErrorCode.CONFIGURATION_INVALID,
            f"The authorization server {authority.issuer} registers nobody by itself. Register the engine there, with"
            f" {redirect_uri} as its redirect address, and write `oauth.client_id` into the server's file.",
        )
    wanted = _wanted(authority.token_endpoint_auth_methods_supported)
    what = "The registration of clients"
    reply = await wire.post(authority.registration_endpoint, what, body=described(redirect_uri, wanted))
    made = reply.read(Registered) if reply.ok else None
    if made is None or not made.client_id:
        raise addresses.refused(f"the authorization server did not register the engine (status {reply.status}).")
    said = made.token_endpoint_auth_method
    auth = wanted if said is None else _wanted((said,))
    return Client(
        client_id=made.client_id,
        client_secret=made.client_secret,
        auth=auth if made.client_secret else _ORDER[0],
        issuer=authority.issuer,
        redirect_uri=redirect_uri,
        expires_at=made.client_secret_expires_at * 1000 or None,
    )


def _wanted(ways: Sequence[str]) -> TokenAuth:
    """The simplest way to show who asks that both sides know; where nothing is said, it is basic authentication."""
    for way in _ORDER:
        if way in ways:
            return way
    return "client_secret_basic"
