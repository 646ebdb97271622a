"""The agents there are for a user: those of the catalog, which mean the same to everybody, and the user's own."""

import time
from collections import OrderedDict
from collections.abc import Mapping
from typing import Final

import msgspec

from aster.brain.agents import AgentRow
from aster.brain.protocol import Brain
from aster.catalog.agent_folders import Kept
from aster.contracts.agents import Agent
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.model import decode, encode
from aster.engine_core.agents.profile import narrower, profile_of
from aster.engine_core.orders import Order
from aster.infra.clock import now_ms
from aster.infra.settings import Settings

MOST_OWN: Final = 100
FRESH_SECONDS: Final = 10.0
_MOST_USERS: Final = 10_000


class Roster:
    """`catalog` is replaced as a whole when the catalog is read again. A user's own agents are read when one is needed;
    what is kept of them for a moment only serves to tell a model that they are there."""

    def __init__(self, settings: Settings, brain: Brain, catalog: Mapping[str, Kept]) -> None:
        self.catalog = catalog
        self._settings = settings
        self._brain = brain
        self._own: OrderedDict[str, tuple[float, tuple[Agent, ...]]] = OrderedDict()

    async def own(self, user_id: str) -> tuple[Agent, ...]:
        """A user's own agents by name, as they were some seconds ago at most."""
        known = self._own.get(user_id)
        if known is None or time.monotonic() > known[0]:
            found = tuple(kept.agent for kept in await self.listed(user_id) if kept.source == "user")
            known = self._own[user_id] = time.monotonic() + FRESH_SECONDS, found
            if len(self._own) > _MOST_USERS:
                self._own.popitem(last=False)
        return known[1]

    def look_again(self) -> None:
        """Somebody else may have changed users' agents."""
        self._own.clear()

    async def listed(self, user_id: str) -> list[Kept]:
        """All that a user has, the catalog's first."""
        own = [Kept(decode(row.body, Agent), "user") for row in await self._brain.agents(user_id)]
        return [*self.catalog.values(), *(kept for kept in own if kept.agent.name not in self.catalog)]

    async def find(self, user_id: str, name: str) -> Kept:
        """The agent of this name, or an error that says which there are."""
        kept = self.catalog.get(name)
        if kept is not None:
            return kept
        known = {kept.agent.name: kept for kept in await self.listed(user_id)}
        if name in known:
            return known[name]
        problem = f"is none of the agents there are: {', '.join(known)}"
        raise EngineError(
            ErrorCode.INVALID_REQUEST,
            f"Correct this and send it again: `agent` {problem}.",
            {"fields": [{"field": "agent", "problem": problem}], "agents": list(known)},
        )

    async def cast(self, user_id: str, order: Order) -> Order:
        """An order with the agent it names: who it is, which model it wants, and a mode no wider than its own."""
        if order.agent is None:
            return order
        kept = await self.find(user_id, order.agent)
        agent, mode = kept.agent, order.permission_mode or self._settings.permission_mode
        return msgspec.structs.replace(
            order,
            profile=profile_of(agent),
            model=order.model or self.model_of(kept),
            permission_mode=narrower(mode, agent.permission_mode),
        )

    def model_of(self, kept: Kept) -> str | None:
        """The model an agent wants: the operator's agents may have any, a user's only one that users may choose."""
        wanted = kept.agent.model
        return wanted if kept.source != "user" or wanted in self._settings.allowed_models else None

    async def put(self, user_id: str, agent: Agent) -> None:
        """Keep an agent of a user's own, in place of the one of the same name."""
        if agent.name in self.catalog:
            raise _unfit("name", "is that of an agent of the catalog; choose another name")
        if agent.model is not None and agent.model not in self._settings.allowed_models:
            raise _unfit("model", "has to be one of LLM_ALLOWED_MODELS")
        held = {row.name for row in await self._brain.agents(user_id)}
        if agent.name not in held and len(held) >= MOST_OWN:
            raise _unfit("name", f"would be one agent too many: there are {len(held)} already; delete some")
        await self._brain.put(AgentRow(user_id=user_id, name=agent.name, body=encode(agent), updated_at=now_ms()))
        self._own.pop(user_id, None)

    async def drop(self, user_id: str, name: str) -> None:
        dropped = await self._brain.drop_agent(user_id, name)
        self._own.pop(user_id, None)
        if not dropped:
            raise EngineError(
                ErrorCode.NOT_FOUND, f"There is no agent of your own named {name!r}.", {"agent": name}
            )


def _unfit(field: str, problem: str) -> EngineError:
    return EngineError(
        ErrorCode.INVALID_REQUEST,
        f"Correct this and send it again: `{field}` {problem}.",
        {"fields": [{"field": field, "problem": problem}]},
    )
