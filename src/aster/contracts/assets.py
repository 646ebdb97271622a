"""Asset records: MCP servers, the connections to them, and the actions they offer."""

from enum import StrEnum
from typing import Any, Literal, TypeAlias

from aster.contracts.model import Contract
from aster.contracts.permissions import Behavior
from aster.contracts.tools import Effect

AuthMethod: TypeAlias = Literal["none", "static", "oauth"]
ActionKind: TypeAlias = Literal["tool", "resource", "prompt"]
ContentKind: TypeAlias = Literal["resource", "template", "prompt"]


class ConnectionStatus(StrEnum):
    CONNECTED = "connected"
    PENDING_OAUTH = "pending_oauth"
    EXPIRED = "expired"
    FAILED = "failed"
    DISCONNECTED = "disconnected"


class OAuthClient(Contract, forbid_unknown_fields=True):
    """The engine as a server's authorization server (`issuer`) knows it, where the operator has registered it there.
    `${NAME}` in the secret is a variable of the engine's environment."""

    client_id: str = ""
    client_secret: str = ""
    issuer: str = ""


class ServerConfigPayload(Contract, forbid_unknown_fields=True):
    """How to reach a server, and what the host lets it do.

    `policy` says for actions (by name, `*` for all others) whether they are allowed, asked about or denied; `effects`
    which of them only look or may be repeated. What the server says about itself counts for neither. `readable` are
    places a `command` may look into; `headers` and `environment` are sent to it with every call, `${NAME}` in them is
    a variable of the engine's environment. `asks` names the headers or variables that a user gives when connecting;
    with `auth_method` oauth a person logs in, and `oauth` is for where the engine cannot register itself.
    """

    server_name: str
    display_name: str = ""
    transport: Literal["stdio", "http", "sse"] = "http"
    auth_method: AuthMethod = "none"
    url: str | None = None
    command: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()
    environment: dict[str, str] = {}
    headers: dict[str, str] = {}
    asks: tuple[str, ...] = ()
    oauth: OAuthClient | None = None
    readable: tuple[str, ...] = ()
    policy: dict[str, Behavior] = {}
    effects: dict[str, Effect] = {}
    sampling: bool = True
    timeout_seconds: float = 60.0

    def behavior(self, action: str) -> Behavior:
        """What the operator wants to happen with calls of an action, where no rule or grant says more."""
        return self.policy.get(action) or self.policy.get("*") or "ask"


class Connection(Contract):
    """A user's connection to a server; credentials are never part of it. `auth_url` is the page where a person logs in,
    when that was just asked for. `resting`: it failed several times and is left alone for a while."""

    ref_id: str
    server_name: str
    status: ConnectionStatus
    scopes: tuple[str, ...] = ()
    expires_at: str | None = None
    tools: int = 0
    reason: str | None = None
    auth_url: str | None = None
    resting: bool = False
    updated_at: str | None = None


class ContentDef(Contract):
    """One thing a server has ready to be read: a resource by its `address`, a template for addresses, or a prompt by
    its name with what it asks for."""

    kind: ContentKind
    address: str
    title: str = ""
    description: str = ""
    arguments: tuple[str, ...] = ()


class ActionDef(Contract):
    """An action of a server: called `<server>.<action>` by the model. `original` is what the server itself calls it;
    `pin` a hash of everything the server says about it."""

    server_name: str
    action: str
    description: str
    input_schema: dict[str, Any]
    original: str = ""
    kind: ActionKind = "tool"
    pin: str = ""

    @property
    def name(self) -> str:
        return f"{self.server_name}.{self.action}"
