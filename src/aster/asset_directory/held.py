"""What a user holds: a connection to a server, what the server offers, and the session with it while there is one.

A server that fails again and again is left alone for a while; what it offered before stays known meanwhile, so that
prompts do not change because a server had a bad minute.
"""

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from aster.brain.assets import ConnectionRow
from aster.contracts.assets import ActionDef, Connection, ConnectionStatus, ServerConfigPayload
from aster.contracts.model import decode
from aster.herald.breaker import Breaker
from aster.infra.clock import iso_ms

if TYPE_CHECKING:
    from aster.asset_directory.link import Link
    from aster.asset_directory.stdio import Complaints


Refusal: TypeAlias = Literal["credentials", "session"]


@dataclass(slots=True)
class Held:
    """`own`: the user brought the server. `refused`: it does not accept the credentials (any more); `wants` are scopes
    it asks for beyond those it was given. `opening` keeps two calls from opening two sessions, `logging_in` from
    beginning two logins; `complaints` are what its program said last."""

    row: ConnectionRow
    server: ServerConfigPayload
    own: bool
    refused: bool = False
    wants: tuple[str, ...] = ()
    actions: tuple[ActionDef, ...] = ()
    problems: tuple[str, ...] = ()
    link: "Link | None" = None
    complaints: "Complaints | None" = None
    breaker: Breaker = field(default_factory=Breaker)
    opening: asyncio.Lock = field(default_factory=asyncio.Lock)
    logging_in: asyncio.Lock = field(default_factory=asyncio.Lock)

    def refuse(self, what: Refusal, wants: tuple[str, ...] = ()) -> None:
        """The server does not take the credentials (any more) or wants others, or knows nothing of the session: another
        is needed."""
        if what == "credentials":
            self.refused, self.wants = True, wants
        elif self.link is not None:
            self.link.forgotten = True
            self.link.lose()

    @property
    def shown(self) -> Connection:
        return Connection(
            ref_id=self.row.ref_id,
            server_name=self.row.server_name,
            status=ConnectionStatus(self.row.status),
            scopes=tuple(decode(self.row.scopes, list[str])),
            expires_at=None if self.row.expires_at is None else iso_ms(self.row.expires_at),
            tools=len(self.actions),
            reason=self.row.reason or ("; ".join(self.problems[:20]) or None),
            resting=self.breaker.wait() > 0,
            updated_at=iso_ms(self.row.updated_at),
        )


@dataclass(slots=True)
class Holdings:
    """Everything one user holds, by the server's name; `version` grows with every change of what can be called."""

    held: dict[str, Held] = field(default_factory=dict[str, Held])
    version: int = 0

    @property
    def actions(self) -> tuple[tuple[ActionDef, ServerConfigPayload], ...]:
        return tuple((action, held.server) for held in self.held.values() for action in held.actions)
