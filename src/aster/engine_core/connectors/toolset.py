"""The tools a user has: everybody's, and those of the servers the user is connected to.

Few tools are offered as they are. When they would take too much of the prompt, the model is offered two tools in
their place, one that finds and one that calls, which are the same bytes whatever is connected; a call made through
the second is judged, granted and written down as the call it stands for.
"""

from typing import Final

from aster.asset_directory.directory import AssetDirectory
from aster.asset_directory.held import Holdings
from aster.asset_directory.index import ActionIndex
from aster.contracts.model import encode
from aster.contracts.tools import ToolCall, ToolOutcome
from aster.engine_core.connectors.on_demand import CallTool, FindTools
from aster.engine_core.connectors.tool import ConnectorTool
from aster.herald.tool_names import wire_name
from aster.infra.secrets import Secrets
from aster.memory.embeddings.embedder import Embedder
from aster.utility_directory.platform_registry import Registry
from aster.utility_directory.tool_runtime import Prepared, ToolRuntime

_BYTES_PER_TOKEN: Final = 3.5


class ConnectedTools(ToolRuntime):
    """A runtime that knows why the tool of a server is not there."""

    def __init__(self, registry: Registry, secrets: Secrets, servers: frozenset[str]) -> None:
        super().__init__(registry, secrets)
        self._servers = servers

    def prepare(self, call: ToolCall) -> Prepared | ToolOutcome:
        server = call.name.partition(".")[0]
        if server in self._servers and self.registry.get(call.name) is None:
            text = (
                f"{call.name} cannot be called: the server {server!r} is not connected, or does not offer it now."
            )
            return ToolOutcome.error(text, reason="MCP_CONNECTION_FAILED")
        return super().prepare(call)


class Connectors:
    """Each user's tools, made anew when the catalog or what the user is connected to has changed."""

    def __init__(
        self,
        directory: AssetDirectory,
        base: ToolRuntime,
        secrets: Secrets,
        vectors: Embedder | str,
        most_tokens: int,
    ) -> None:
        self.directory = directory
        self._base = base
        self._secrets = secrets
        self._vectors = vectors
        self._most_tokens = most_tokens
        self._made: dict[str, tuple[Registry, int, ToolRuntime]] = {}

    async def look_up(self, user_id: str) -> None:
        """Know what a user is connected to; for everybody else it costs nothing."""
        if self.directory.holds(user_id):
            await self.directory.look_up(user_id)

    def tools(self, user_id: str) -> ToolRuntime:
        """What a user's models may call at this moment."""
        holdings = self.directory.holdings(user_id)
        if holdings is None:
            self._made.pop(user_id, None)
            return self._base if not self.directory.server_names() else self._unconnected()
        made = self._made.get(user_id)
        if made is not None and made[0] is self._base.registry and made[1] == holdings.version:
            return made[2]
        registry = self._registry(holdings)
        runtime = ConnectedTools(registry, self._secrets, self._names(holdings))
        self._made[user_id] = self._base.registry, holdings.version, runtime
        return runtime

    def pin(self, user_id: str, tool: str) -> str | None:
        """How a server describes a tool now, for a grant of it."""
        registered = self.tools(user_id).registry.get(tool)
        found = None if registered is None else registered.tool
        return found.action.pin if isinstance(found, ConnectorTool) else None

    def _names(self, holdings: Holdings | None = None) -> frozenset[str]:
        own = holdings.held if holdings is not None else {}
        return self.directory.server_names() | frozenset(own)

    def _unconnected(self) -> ToolRuntime:
        made = self._made.get("")
        names = self._names()
        if made is None or made[0] is not self._base.registry or made[1] != hash(names):
            made = self._base.registry, hash(names), ConnectedTools(self._base.registry, self._secrets, names)
            self._made[""] = made
        return made[2]

    def _registry(self, holdings: Holdings) -> Registry:
        taken = {wire_name(name) for name in self._base.registry.names}
        tools = [
            ConnectorTool(action, server, self.directory)
            for action, server in holdings.actions
            if wire_name(action.name) not in taken
        ]
        size = sum(len(encode(tool.definition)) for tool in tools) / _BYTES_PER_TOKEN
        if size <= self._most_tokens:
            return self._base.registry.extended(tools)
        index = ActionIndex([tool.definition for tool in tools], self._vectors)
        found = (FindTools(index), CallTool(frozenset(tool.definition.name for tool in tools)))
        return self._base.registry.extended(found, hidden=tools)
