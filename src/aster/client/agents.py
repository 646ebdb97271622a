"""Agents over the wire: those that can be asked by name, and a user's own."""

from urllib.parse import quote

from aster.client.wire import Wire
from aster.contracts.agents import Agent
from aster.contracts.model import Contract, to_builtins


class AgentSummary(Agent):
    """An agent, and whose it is: `stock`, `catalog` for the operator's, `user` for one's own."""

    source: str = "stock"


class AgentList(Contract):
    agents: tuple[AgentSummary, ...]


class AgentsClient:
    """The part of a client that is about agents."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    async def list(self) -> tuple[AgentSummary, ...]:
        """All there are, those of the catalog first."""
        return (await self._wire.ask(AgentList, "GET", "/agents")).agents

    async def put(self, agent: Agent) -> AgentSummary:
        """Keep an agent of one's own, in place of the one of the same name."""
        body = {name: value for name, value in to_builtins(agent).items() if name != "name"}
        return await self._wire.ask(AgentSummary, "PUT", _path(agent.name), body=body)

    async def delete(self, name: str) -> None:
        """Turns that have begun with it go on with it."""
        async with self._wire.open("DELETE", _path(name)):
            pass


def _path(name: str) -> str:
    return f"/agents/{quote(name, safe='')}"
