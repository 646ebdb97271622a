"""A login as it is kept, and one that was begun: everything needed to use, renew, revoke or finish it without asking
anybody else. Both hold secrets, so neither is ever stored but in the vault.
"""

from typing import Literal, TypeAlias

from aster.contracts.model import Contract

TokenAuth: TypeAlias = Literal["none", "client_secret_basic", "client_secret_post"]


class Client(Contract):
    """Who the engine is to an authorization server (`issuer`), with the one address people come back to."""

    client_id: str
    client_secret: str | None = None
    auth: TokenAuth = "none"
    issuer: str = ""
    redirect_uri: str = ""
    expires_at: int | None = None


class Place(Contract):
    """Where tokens come from, and what they are for: `url` is the server's address, `resource` its name there."""

    url: str
    resource: str
    issuer: str
    token_endpoint: str
    revocation_endpoint: str | None = None


class Login(Contract):
    """Tokens and where they came from. Without an `access_token` the person has to log in again; from `renew_at` on it
    is time for the next ones, and until `renewing_until` somebody is fetching them."""

    place: Place
    client: Client
    access_token: str = ""
    refresh_token: str | None = None
    expires_at: int | None = None
    renew_at: int | None = None
    scopes: tuple[str, ...] = ()
    renewing_until: int = 0

    @property
    def secrets(self) -> tuple[str, ...]:
        found = (self.access_token, self.refresh_token, self.client.client_secret)
        return tuple(value for value in found if value)


class Attempt(Contract):
    """A login that was begun: what only the one who began it can know (`verifier`), and what it must come back with."""

    place: Place
    client: Client
    verifier: str
    auth_url: str
    scopes: tuple[str, ...] = ()
    names_issuer: bool = False
