"""Agents over the wire: those that can be asked by name, and a user's own."""

from aster.client.wire import Wire
from aster.contracts.agents import Agent
from aster.contracts.model import Contract


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
