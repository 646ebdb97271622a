"""Logins from the link a person opens to the tokens that come of it.

What is between the two lies in the brain, encrypted and under the hash of a random word (`state`): whoever comes back
with the word finishes the login, once, on any replica and after any restart, and for the user who began it.
"""

import hashlib
import secrets
from base64 import urlsafe_b64encode
from typing import Final, NamedTuple
from urllib.parse import urlencode

from aster.asset_directory.credentials import Credentials
from aster.asset_directory.oauth import addresses, clients, token_endpoint
from aster.asset_directory.oauth.login import Attempt, Client, Login, Place
from aster.asset_directory.oauth.metadata import Authority, Challenge, Found, challenge, discover
from aster.asset_directory.oauth.wire import Wire
from aster.asset_directory.vault import Vault
from aster.brain.assets import LoginRow
from aster.brain.protocol import Brain
from aster.contracts.assets import ServerConfigPayload
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.model import decode, encode
from aster.infra.clock import now_ms
from aster.infra.settings import Settings

CALLBACK: Final = "/assets/oauth/callback"
DOCUMENT: Final = "/assets/oauth/client.json"
_OFFLINE: Final = "offline_access"
_KNOCK: Final = {"jsonrpc": "2.0", "id": "login", "method": "ping"}


class Returned(NamedTuple):
    """What a person's browser comes back with."""

    state: str
    code: str = ""
    issuer: str | None = None
    error: str = ""


class Logins:
    def __init__(self, settings: Settings, brain: Brain, vault: Vault, credentials: Credentials) -> None:
        self._settings = settings
        self._brain = brain
        self._vault = vault
        self._credentials = credentials

    async def begin(
        self,
        user_id: str,
        server: ServerConfigPayload,
        *,
        own: bool,
        known: Login | None = None,
        more: tuple[str, ...] = (),
        anew: bool = False,
    ) -> str:
        """The address that a person opens to log in. `known` is the login before, `more` the scopes the server wants
        beyond it; unless it is to be made `anew`, a link that nobody has used yet will do."""
        earlier = None if anew else await self._unused(user_id, server, more)
        if earlier is not None:
            return earlier.auth_url
        wire, redirect_uri = Wire(self._settings, server, own=own), f"{self._base()}{CALLBACK}"
        asked = challenge((await wire.knock(server.url or "", _KNOCK)).headers.get_list("www-authenticate"))
        issuer = server.oauth.issuer if server.oauth is not None and not own else ""
        found = await discover(wire, server.url or "", asked.described_at, issuer)
        client = await self._client(wire, server, found.authority, redirect_uri, None if anew else known)
        scopes = _scopes(server, asked, found, known, more)
        return await self._written(user_id, server, found, client, scopes)

    async def take(self, state: str, user_id: str | None = None) -> LoginRow:
        """The login that was begun with this word; nobody else can take it any more. A known `user_id` has to be the
        one who began it."""
        row = await self._brain.take_login(_hash(state), now_ms(), user_id)
        if row is None:
            raise EngineError(
                ErrorCode.INVALID_REQUEST,
                "This login is unknown, was finished already or is too old. Ask for a new link and log in with that.",
            )
        return row

    async def redeem(self, row: LoginRow, server: ServerConfigPayload, returned: Returned, *, own: bool) -> Login:
        """The tokens of a login that was taken, if what came back is the answer to what was asked."""
        attempt = decode(self._vault.unlock(row.sealed), Attempt)
        issuer = attempt.place.issuer
        if (returned.issuer is None and attempt.names_issuer) or returned.issuer not in (None, issuer):
            raise _failed("the answer comes from another authorization server than the one that was asked")
        if returned.error or not returned.code:
            raise _failed("the authorization server did not allow it")
        if attempt.place.url != server.url:
            raise _failed("the server has another address now")
        wire = Wire(self._settings, server, own=own)
        try:
            return await token_endpoint.redeem(wire, attempt, returned.code)
        except token_endpoint.Denied as denied:
            raise _failed(f"the authorization server refuses the code ({denied.word})") from None
        except token_endpoint.Unclear as unclear:
            raise EngineError(ErrorCode.MCP_CONNECTION_FAILED, f"The login failed: {unclear}") from None

    def document(self) -> dict[str, object]:
        """The engine as a client, for authorization servers that look it up by its address."""
        base = self._base()
        named = self._document() or f"{base}{DOCUMENT}"
        return {"client_id": named, **clients.described(f"{base}{CALLBACK}")}

    def _document(self) -> str | None:
        """Where that can be looked up; nowhere, if the engine itself is not reached over https."""
        given, base = self._settings.oauth_client_metadata_url, self._base()
        return given or (f"{base}{DOCUMENT}" if base.startswith("https://") else None)

    def _base(self) -> str:
        """Where people's browsers find this engine."""
        given = self._settings.oauth_redirect_base_url.rstrip("/")
        if given:
            return addresses.check(given, "OAUTH_REDIRECT_BASE_URL", frozenset())
        host = self._settings.host
        guess = f"http://{f'[{host}]' if ':' in host else host}:{self._settings.port}"
        if self._settings.port and addresses.on_this_machine(guess):
            return guess
        raise EngineError(
            ErrorCode.CONFIGURATION_INVALID,
            "Set OAUTH_REDIRECT_BASE_URL to the address under which browsers reach this engine; logins come back"
            " there.",
        )

    async def _unused(self, user_id: str, server: ServerConfigPayload, more: tuple[str, ...]) -> Attempt | None:
        """A link that is not yet half as old as it may get and asks for as much."""
        fresh = now_ms() + self._settings.oauth_login_seconds * 500
        for row in await self._brain.logins(user_id, server.server_name, fresh):
            try:
                attempt = decode(self._vault.unlock(row.sealed), Attempt)
            except EngineError:  # the key it was locked with is gone
                continue
            if attempt.place.url == server.url and set(more) <= set(attempt.scopes):
                return attempt
        return None

    async def _client(
        self, wire: Wire, server: ServerConfigPayload, authority: Authority, redirect_uri: str, known: Login | None
    ) -> Client:
        given = server.oauth
        if given is not None and given.client_id:
            secret = self._credentials.filled_in(server, given.client_secret) or None
            return clients.given(given.client_id, secret, authority, redirect_uri)
        document = self._document() if authority.client_id_metadata_document_supported else None
        if document is not None:
            return clients.given(document, None, authority, redirect_uri)
        earlier = clients.usable(known.client if known else None, authority, redirect_uri)
        return earlier or await clients.register(wire, authority, redirect_uri)

    async def _written(
        self, user_id: str, server: ServerConfigPayload, found: Found, client: Client, scopes: tuple[str, ...]
    ) -> str:
        state, verifier = secrets.token_urlsafe(32), secrets.token_urlsafe(48)
        authority = found.authority
        asked = {
            "response_type": "code",
            "client_id": client.client_id,
            "redirect_uri": client.redirect_uri,
            "state": state,
            "code_challenge": urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("="),
            "code_challenge_method": "S256",
            "resource": found.resource,
            **({"scope": " ".join(scopes)} if scopes else {}),
        }
        page = authority.authorization_endpoint
        attempt = Attempt(
            place=Place(
                url=server.url or "",
                resource=found.resource,
                issuer=authority.issuer,
                token_endpoint=authority.token_endpoint,
                revocation_endpoint=authority.revocation_endpoint,
            ),
            client=client,
            verifier=verifier,
            auth_url=f"{page}{'&' if '?' in page else '?'}{urlencode(asked)}",
            scopes=scopes,
            names_issuer=authority.authorization_response_iss_parameter_supported,
        )
        now = now_ms()
        row = LoginRow(
            state_hash=_hash(state),
            user_id=user_id,
            server_name=server.server_name,
            sealed=self._vault.lock(encode(attempt)),
            created_at=now,
            expires_at=now + self._settings.oauth_login_seconds * 1000,
        )
        await self._brain.keep_login(row, now)
        return attempt.auth_url


def _scopes(
    server: ServerConfigPayload, asked: Challenge, found: Found, known: Login | None, more: tuple[str, ...]
) -> tuple[str, ...]:
    """What is asked for: what the operator wrote down, or what the server wants now, or all that it knows; and when it
    wants more than before, that and what was given before."""
    wanted = server.scopes or asked.scopes or found.scopes
    if more:
        wanted = (*wanted, *(known.scopes if known else ()), *more)
    if wanted and _OFFLINE in found.authority.scopes_supported:
        wanted = (*wanted, _OFFLINE)
    return tuple(dict.fromkeys(wanted))


def _hash(state: str) -> str:
    return hashlib.sha256(state.encode()).hexdigest()


def _failed(why: str) -> EngineError:
    return EngineError(ErrorCode.INVALID_REQUEST, f"The login failed: {why}. Ask for a new link to try again.")
