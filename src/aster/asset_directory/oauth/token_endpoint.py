"""What the token endpoint is asked: tokens for a code, new tokens for old ones, and that tokens be of no use any more.

An answer is either tokens or `Denied` with the word the standard has for it; nothing else an authorization server says
is shown to anybody, because it may repeat what it was told.
"""

from base64 import b64encode
from typing import Any, Final
from urllib.parse import quote_plus

import msgspec

from aster.asset_directory.oauth.login import Attempt, Client, Login
from aster.asset_directory.oauth.metadata import scopes_in
from aster.asset_directory.oauth.wire import Reply, Wire
from aster.contracts.errors import EngineError
from aster.contracts.model import Contract
from aster.infra.clock import now_ms

_WHAT: Final = "The token endpoint"
_AHEAD_MS: Final = 120_000
"""So long before their end tokens are renewed; of those that do not last, a fifth of their time."""
_FINAL: Final = frozenset(
    ("invalid_grant", "invalid_client", "unauthorized_client", "invalid_scope", "access_denied")
)
"""What does not pass by waiting."""
_LONGEST_SECONDS: Final = 10 * 366 * 86_400.0


class Denied(Exception):
    """The authorization server refuses; `word` is its code for why (`invalid_grant` …)."""

    def __init__(self, word: str) -> None:
        super().__init__(word)
        self.word = word


class Unclear(Exception):
    """The authorization server did not answer in a way that means anything."""


class _Tokens(Contract):
    access_token: str = ""
    token_type: str = "bearer"  # noqa: S105
    expires_in: float | None = None
    refresh_token: str | None = None
    scope: str | None = None


class _Refusal(Contract):
    error: str = ""


async def redeem(wire: Wire, attempt: Attempt, code: str) -> Login:
    """The tokens for a code that a person came back with."""
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": attempt.client.redirect_uri,
        "code_verifier": attempt.verifier,
        "resource": attempt.place.resource,
    }
    login = Login(place=attempt.place, client=attempt.client, scopes=attempt.scopes)
    return _with(login, await _ask(wire, login, form))


async def renew(wire: Wire, login: Login) -> Login:
    """The tokens that come after these."""
    form = {
        "grant_type": "refresh_token",
        "refresh_token": login.refresh_token or "",
        "resource": login.place.resource,
    }
    return _with(login, await _ask(wire, login, form))


async def revoke(wire: Wire, login: Login) -> None:
    """Have the tokens withdrawn, where that can be asked for (RFC 7009); whether it worked is not known."""
    endpoint = login.place.revocation_endpoint
    for kind, token in (("refresh_token", login.refresh_token), ("access_token", login.access_token)):
        if endpoint and token:
            form, headers = _shown(login.client, {"token": token, "token_type_hint": kind})
            await wire.post(endpoint, "The revocation of tokens", form=form, headers=headers)


async def _ask(wire: Wire, login: Login, form: dict[str, str]) -> _Tokens:
    shown, headers = _shown(login.client, form)
    try:
        reply = await wire.post(login.place.token_endpoint, _WHAT, form=shown, headers=headers)
    except EngineError as error:
        raise Unclear(error.message) from error
    tokens = reply.read(_Tokens) if reply.ok else None
    if tokens is None:
        raise _refusal(reply)
    if not tokens.access_token or tokens.token_type.lower() != "bearer" or not _fits(tokens.access_token):
        raise Unclear("The token endpoint gave no bearer token.")
    return tokens


def _refusal(reply: Reply) -> Denied | Unclear:
    said = reply.read(_Refusal)
    if reply.status in (400, 401, 403) and said is not None and said.error in _FINAL:
        return Denied(said.error)
    return Unclear(f"The token endpoint answered with status {reply.status}.")


def _with(login: Login, tokens: _Tokens) -> Login:
    now, seconds = now_ms(), tokens.expires_in
    life = None if seconds is None or not 0 <= seconds <= _LONGEST_SECONDS else int(seconds * 1000)
    return msgspec.structs.replace(
        login,
        access_token=tokens.access_token,
        refresh_token=tokens.refresh_token or login.refresh_token,
        expires_at=None if life is None else now + life,
        renew_at=None if life is None else now + life - min(_AHEAD_MS, life // 5),
        scopes=login.scopes if tokens.scope is None else scopes_in(tokens.scope),
        renewing_until=0,
    )


def _shown(client: Client, form: dict[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """A form that also says who asks, in the way that was agreed."""
    if client.auth == "client_secret_basic" and client.client_secret:
        pair = f"{quote_plus(client.client_id)}:{quote_plus(client.client_secret)}"
        return form, {"Authorization": f"Basic {b64encode(pair.encode()).decode()}"}
    named: dict[str, Any] = {**form, "client_id": client.client_id}
    if client.auth == "client_secret_post" and client.client_secret:
        named["client_secret"] = client.client_secret
    return named, {}


def _fits(token: str) -> bool:
    """Whether it can stand in a header."""
    return token.isascii() and token.isprintable() and " " not in token
