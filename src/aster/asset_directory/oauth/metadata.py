"""Finding out who gives out tokens for a server, and how they are asked for (RFC 9728, RFC 8414, OpenID discovery).

A description counts only if it is about what was asked: a resource that covers the server, an issuer that is the one
that was named. Servers older than these documents are found at their own origin.
"""

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from aster.asset_directory.oauth import addresses
from aster.asset_directory.oauth.wire import Wire
from aster.contracts.model import Contract

_MOST_SCOPES: Final = 100
_SCOPE: Final = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]{1,200}")
_PARAMETER: Final = re.compile(r'\b([A-Za-z_]++)\s*+=\s*+(?:"((?:[^"\\]|\\.)*+)"|([^\s,"]++))')
"""Nothing in it is tried twice, however long a server goes on."""


class Challenge(NamedTuple):
    """What a server says with a refusal: why, which scopes it wants, and where its own description is."""

    error: str = ""
    scopes: tuple[str, ...] = ()
    described_at: str = ""


class Resource(Contract):
    """A server as it describes itself."""

    resource: str = ""
    authorization_servers: tuple[str, ...] = ()
    scopes_supported: tuple[str, ...] = ()


class Authority(Contract):
    """An authorization server as it describes itself. `code_challenge_methods_supported` is None where nothing is
    said."""

    issuer: str = ""
    authorization_endpoint: str = ""
    token_endpoint: str = ""
    registration_endpoint: str | None = None
    revocation_endpoint: str | None = None
    scopes_supported: tuple[str, ...] = ()
    code_challenge_methods_supported: tuple[str, ...] | None = None
    token_endpoint_auth_methods_supported: tuple[str, ...] = ()
    authorization_response_iss_parameter_supported: bool = False
    client_id_metadata_document_supported: bool = False


class Found(NamedTuple):
    """Who gives out tokens, what the server is called there, and the scopes it knows."""

    authority: Authority
    resource: str
    scopes: tuple[str, ...]


def challenge(headers: Iterable[str]) -> Challenge:
    """What `WWW-Authenticate` says about bearer tokens."""
    for header in headers:
        scheme, _, rest = header.strip().partition(" ")
        if scheme.lower() != "bearer":
            continue
        said = {
            name.lower(): re.sub(r"\\(.)", r"\1", quoted) or plain
            for name, quoted, plain in _PARAMETER.findall(rest)
        }
        return Challenge(said.get("error", ""), scopes_in(said.get("scope", "")), said.get("resource_metadata", ""))
    return Challenge()


def scopes_in(text: str) -> tuple[str, ...]:
    """The scopes of a list, each once; what cannot be one is left out."""
    return tuple(dict.fromkeys(filter(_SCOPE.fullmatch, text.split())))[:_MOST_SCOPES]


async def discover(wire: Wire, url: str, described_at: str, issuer: str) -> Found:
    """Whom to ask for tokens for the server at an address; `issuer` is whom the operator means, if that is said."""
    resource = await _resource(wire, url, described_at)
    if resource is None:
        base = issuer or addresses.origin(url)
        authority = await _authority(wire, base, by_origin=not issuer)
        return Found(authority or _customary(base), url, ())
    if not addresses.covers(resource.resource, url):
        raise addresses.refused("the server describes itself as another resource than the one that was connected.")
    named = issuer or next(iter(resource.authorization_servers), "") or addresses.origin(url)
    addresses.check(named, "The authorization server", wire.declared)
    authority = await _authority(wire, named)
    if authority is None:
        raise addresses.refused(f"the authorization server ({addresses.origin(named)}) does not describe itself.")
    return Found(authority, resource.resource, scopes_in(" ".join(resource.scopes_supported)))


async def _resource(wire: Wire, url: str, described_at: str) -> Resource | None:
    places = (described_at,) if described_at else tuple(addresses.resource_documents(url))
    for place in places:
        reply = await wire.get(place, "The server's description of itself")
        found = reply.read(Resource) if reply.ok else None
        if found is not None and found.resource:
            return found
    if described_at:
        raise addresses.refused("the server names a description of itself that is not there.")
    return None


async def _authority(wire: Wire, issuer: str, *, by_origin: bool = False) -> Authority | None:
    """What an issuer says of itself. Where nobody has named one, the server's own origin is asked, and answers for any
    issuer that is there (`by_origin`)."""
    for place in addresses.issuer_documents(issuer):
        reply = await wire.get(place, "The authorization server")
        found = reply.read(Authority) if reply.ok else None
        if found is None or not found.issuer:
            continue
        there = by_origin and addresses.origin(found.issuer) == addresses.origin(issuer)
        if not there and not addresses.same(found.issuer, issuer):
            raise addresses.refused("the authorization server describes itself as another than the one asked.")
        _check(found, wire)
        return found
    return None


def _check(authority: Authority, wire: Wire) -> None:
    methods = authority.code_challenge_methods_supported
    if methods is None or "S256" not in methods:
        raise addresses.refused("the authorization server does not offer PKCE with S256.")
    addresses.check(authority.authorization_endpoint, "The login page", wire.declared)
    addresses.check(authority.token_endpoint, "The token endpoint", wire.declared)


def _customary(base: str) -> Authority:
    """Where everything was before servers described themselves (the protocol's revision 2025-03-26)."""
    root = addresses.origin(base)
    return Authority(
        issuer=root,
        authorization_endpoint=f"{root}/authorize",
        token_endpoint=f"{root}/token",
        registration_endpoint=f"{root}/register",
    )
