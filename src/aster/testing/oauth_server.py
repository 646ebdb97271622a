"""An authorization server that is a script, and the guard it puts before a server: real OAuth over loopback.

It gives out tokens to everybody who asks properly, remembers everything it was asked, and misbehaves exactly as told:
tokens that end at once, refresh tokens that are withdrawn, another issuer in the answer. Nobody has to press a button;
whoever opens its login page is sent back logged in.
"""

import asyncio
import base64
import hashlib
import json
import secrets
import time
from collections import Counter
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias
from urllib.parse import parse_qs, unquote_plus, urlencode

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]
Answer: TypeAlias = tuple[int, dict[str, str], Any]


@dataclass(slots=True)
class Issued:
    """A pair of tokens; `until` is when the first of them ends."""

    client_id: str
    scopes: frozenset[str]
    access: str
    refresh: str
    until: float


@dataclass(slots=True)
class Code:
    client_id: str
    redirect_uri: str
    challenge: str
    resource: str
    scopes: frozenset[str]


@dataclass(slots=True)
class OAuthServer:
    """Everything under one `url`: `asgi` serves the authorization server, and `app` behind the guard at `/mcp`.

    `lifetime` is how long tokens last, `needed` the scopes that a call of a tool needs, `auth_methods` how clients show
    who they are. `iss` is what it calls itself when it sends somebody back. With `again` old tokens are given out again
    in place of new ones. New tokens for old ones wait for `hold`,
    and `holding` says that some do. `seen` counts requests by path, `asked` are the forms that were sent to the token
    endpoint.
    """

    app: App | None = None
    url: str = ""
    lifetime: float = 3600.0
    scopes: tuple[str, ...] = ("read", "write")
    needed: frozenset[str] = frozenset()
    auth_methods: tuple[str, ...] = ("none",)
    iss: str | None = None
    authorization_servers: tuple[str, ...] = ()
    resource: str = ""
    down: bool = False
    again: bool = False
    hold: asyncio.Event | None = None
    holding: asyncio.Event = field(default_factory=asyncio.Event)
    seen: Counter[str] = field(default_factory=Counter[str])
    asked: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    revoked: list[str] = field(default_factory=list[str])
    clients: dict[str, str] = field(default_factory=dict[str, str])
    given_out: list[str] = field(default_factory=list[str])
    _codes: dict[str, Code] = field(default_factory=dict[str, Code])
    _live: dict[str, Issued] = field(default_factory=dict[str, Issued])

    def expire(self) -> None:
        """End every access token now; refresh tokens go on."""
        for issued in self._live.values():
            issued.until = 0.0

    def withdraw(self, but: str = "") -> None:
        """End everything that was ever given out, but for one access token and what belongs to it."""
        self._live = {access: issued for access, issued in self._live.items() if access == but}

    def issue(self, client_id: str, *scopes: str) -> tuple[str, str]:
        """Give out tokens to somebody who never asked."""
        tokens = self._issue(client_id, frozenset(scopes))[2]
        return tokens["access_token"], tokens["refresh_token"]

    async def asgi(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if self.app is not None:
                await self.app(scope, receive, send)
            return
        path: str = scope["path"]
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        self.seen[path] += 1
        if path.startswith("/mcp") and self.app is not None:
            body = await _body(receive)
            refusal = self._refusal(headers, body)
            if refusal is None:
                await self.app(scope, _again(body, receive), send)
            else:
                await _send(send, refusal)
            return
        query = {name: values[0] for name, values in parse_qs(scope["query_string"].decode()).items()}
        body = await _body(receive)
        answer = self._answer(scope["method"], path, headers, query, body)
        if self.hold is not None and b"grant_type=refresh_token" in body:
            self.holding.set()
            await self.hold.wait()
        await _send(send, answer)

    def _refusal(self, headers: dict[str, str], body: bytes) -> Answer | None:
        """Why a request to the guarded server is not let through."""
        issued = self._live.get(headers.get("authorization", "").removeprefix("Bearer "))
        where = f'resource_metadata="{self.url}/.well-known/oauth-protected-resource/mcp"'
        if issued is None or issued.until <= time.time():
            return 401, {"www-authenticate": f"Bearer {where}"}, {}
        if b'"tools/call"' in body and not self.needed <= issued.scopes:
            wanted = f'error="insufficient_scope", scope="{" ".join(sorted(self.needed))}"'
            return 403, {"www-authenticate": f"Bearer {wanted}, {where}"}, {}
        return None

    def _answer(
        self, method: str, path: str, headers: dict[str, str], query: dict[str, str], body: bytes
    ) -> Answer:
        if self.down:
            return 503, {}, {}
        match method, path:
            case "GET", "/.well-known/oauth-protected-resource/mcp":
                servers = list(self.authorization_servers) or [self.url]
                described = {"resource": self.resource or f"{self.url}/mcp", "authorization_servers": servers}
                return 200, {}, {**described, "scopes_supported": list(self.scopes[:1])}
            case "GET", "/.well-known/oauth-authorization-server":
                return 200, {}, self._described()
            case "POST", "/register":
                return self._register(json.loads(body))
            case "GET", "/authorize":
                return self._authorize(query)
            case "POST", "/token":
                return self._token(_form(body), headers)
            case "POST", "/revoke":
                self.revoked.append(_form(body)["token"])
                return 200, {}, {}
            case _:
                return 404, {}, {}

    def _described(self) -> dict[str, Any]:
        ends = {f"{name}_endpoint": f"{self.url}/{path}" for name, path in _ENDPOINTS.items()}
        return {
            "issuer": self.url,
            **ends,
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": list(self.auth_methods),
            "authorization_response_iss_parameter_supported": self.iss is not None,
            "scopes_supported": list(self.scopes),
        }

    def _register(self, wanted: dict[str, Any]) -> Answer:
        client_id, method = f"client-{secrets.token_hex(6)}", wanted["token_endpoint_auth_method"]
        secret = "" if method == "none" else self._new("client")
        self.clients[client_id] = secret
        made = {**wanted, "client_id": client_id, **({"client_secret": secret} if secret else {})}
        return 201, {}, made

    def _authorize(self, query: dict[str, str]) -> Answer:
        code = self._new("code")
        self._codes[code] = Code(
            client_id=query["client_id"],
            redirect_uri=query["redirect_uri"],
            challenge=query["code_challenge"],
            resource=query["resource"],
            scopes=frozenset(query.get("scope", "").split()),
        )
        back = {"code": code, "state": query["state"], **({"iss": self.iss} if self.iss is not None else {})}
        return 302, {"location": f"{query['redirect_uri']}?{urlencode(back)}"}, {}

    def _token(self, form: dict[str, str], headers: dict[str, str]) -> Answer:
        self.asked.append(form)
        client_id = self._known(form, headers)
        if client_id is None:
            return 401, {}, {"error": "invalid_client"}
        if form["grant_type"] == "refresh_token":
            old = next((one for one in self._live.values() if one.refresh == form["refresh_token"]), None)
            if old is None or old.client_id != client_id:
                return 400, {}, {"error": "invalid_grant"}
            if self.again:
                return 200, {}, {"access_token": old.access, "token_type": "Bearer", "expires_in": self.lifetime}
            del self._live[old.access]
            return self._issue(client_id, old.scopes)
        code = self._codes.pop(form.get("code", ""), None)
        proof = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        proven = code is not None and base64.urlsafe_b64encode(proof).decode().rstrip("=") == code.challenge
        if code is None or not proven or code.redirect_uri != form["redirect_uri"] or code.client_id != client_id:
            return 400, {}, {"error": "invalid_grant", "error_description": form.get("code", "")}
        return self._issue(client_id, code.scopes)

    def _known(self, form: dict[str, str], headers: dict[str, str]) -> str | None:
        client_id, secret = form.get("client_id", ""), form.get("client_secret", "")
        basic = headers.get("authorization", "").removeprefix("Basic ")
        if basic:
            client_id, secret = map(unquote_plus, base64.b64decode(basic).decode().split(":", 1))
        return client_id if self.clients.get(client_id) == secret else None

    def _issue(self, client_id: str, scopes: frozenset[str]) -> Answer:
        until = time.time() + self.lifetime
        issued = Issued(client_id, scopes, self._new("access"), self._new("refresh"), until)
        self._live[issued.access] = issued
        tokens = {"access_token": issued.access, "token_type": "Bearer", "expires_in": self.lifetime}
        return 200, {}, {**tokens, "refresh_token": issued.refresh, "scope": " ".join(sorted(scopes))}

    def _new(self, kind: str) -> str:
        self.given_out.append(f"{kind}-{secrets.token_urlsafe(24)}")
        return self.given_out[-1]


_ENDPOINTS = {
    "authorization": "authorize",
    "token": "token",
    "registration": "register",
    "revocation": "revoke",
}


def _form(body: bytes) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(body.decode()).items()}


async def _body(receive: Receive) -> bytes:
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    return body


def _again(body: bytes, receive: Receive) -> Receive:
    """A request whose body was read, for whoever reads it next."""
    left = [{"type": "http.request", "body": body, "more_body": False}]

    async def replayed() -> MutableMapping[str, Any]:
        return left.pop() if left else await receive()

    return replayed


async def _send(send: Send, answer: Answer) -> None:
    status, headers, body = answer
    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    await send(
        {"type": "http.response.start", "status": status, "headers": [(b"content-type", b"application/json"), *raw]}
    )
    await send({"type": "http.response.body", "body": json.dumps(body).encode()})
