"""An action of a connected server as a tool. The host decides what it may do: by the operator's policy, by rules and by
grants for what it was when they were given; what the server says about itself is shown, and counts for nothing.
"""

from typing import Any, Final, cast

from aster.asset_directory.actions import checkable
from aster.asset_directory.asking import Wanted
from aster.asset_directory.directory import AssetDirectory
from aster.contracts.assets import ActionDef, ServerConfigPayload
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.tools import Effect, OutcomeClass, ToolDef, ToolOutcome
from aster.engine_core.boundary import defused
from aster.engine_core.connectors import elicitation, login
from aster.engine_core.connectors.caller import TurnCaller
from aster.sandbox.permissions import Decision
from aster.utility_directory.tool import Asks, Input, Tool, ToolContext

_EVERYTHING: Final = "*"
_LOST: Final = (
    "The engine was restarted while this call waited for an answer. It is unknown what the server has done, and it was"
    " not called again."
)


class ConnectorTool(Tool):
    source = "mcp"

    def __init__(self, action: ActionDef, server: ServerConfigPayload, directory: AssetDirectory) -> None:
        shown = f"[{server.display_name or server.server_name}] {defused(action.description)}"
        self.definition = ToolDef(name=action.name, description=shown, input_schema=_defused(action.input_schema))
        self.checked_schema = checkable(action.input_schema)
        self.action = action
        self._server = server
        self._directory = directory

    def effect(self, given: Input) -> Effect:
        effects = self._server.effects
        return effects.get(self.action.action) or effects.get(_EVERYTHING) or Effect.IRREVERSIBLE

    def concurrent(self, given: Input) -> bool:
        return self.effect(given).repeatable

    def decide(self, given: Input, context: ToolContext) -> Decision:
        behavior = self._server.behavior(self.action.action)
        reasons = {
            "ask": f"It is a tool of the connected server {self._server.server_name!r}.",
            "deny": f"The operator does not allow it on the server {self._server.server_name!r}.",
        }
        return Decision(behavior=behavior, reason=reasons.get(behavior, ""), pin=self.action.pin)

    async def run(self, given: Input, context: ToolContext) -> ToolOutcome:
        """Make the call, or go on with it: a server's question ends this with `Asks`, its answer begins it again. So
        does a server that wants a person to log in."""
        asked = context.asked
        refused = login.refusal(asked)
        if refused is not None:
            return refused
        try:
            return await self._called(given, context)
        except EngineError as error:
            wanted = error.code is ErrorCode.MCP_TOKEN_EXPIRED and self._server.auth_method == "oauth"
            if not wanted or context.policy.unattended or login.enough(asked):
                raise
            link = await self._directory.desk.link_for(context.user_id, self.action.server_name)
            raise Asks(login.request(error, link, context, self.definition.name)) from error

    async def _called(self, given: Input, context: ToolContext) -> ToolOutcome:
        key, caller, asked = context.idempotency_key, TurnCaller(context), context.asked
        exchange = None
        if asked is not None and asked.kind == elicitation.KIND:
            told = elicitation.told(asked)
            exchange = self._directory.parked(context.user_id, self.action.server_name, key)
            if exchange is None and asked.state is None:
                return ToolOutcome.error(_LOST, reason="in_doubt", failure=OutcomeClass.UNKNOWN)
            if exchange is not None:
                exchange.caller = caller
                exchange.tell(told)
            else:
                exchange = await self._begun(given, context, caller)
                exchange.begin(asked.state, told)
        if exchange is None:
            exchange = await self._begun(given, context, caller)
            exchange.begin()
        while isinstance(found := await exchange.finished(), Wanted):
            if not context.policy.unattended:
                raise Asks(elicitation.request(found, context, self.definition.name))
            exchange.tell(elicitation.NOBODY)
        await self._directory.finished(context.user_id, exchange, key, context.announce)
        return found

    async def _begun(self, given: Input, context: ToolContext, caller: TurnCaller) -> Any:
        return await self._directory.begin(
            context.user_id, self.action, given, caller, context.idempotency_key, context.announce
        )


def _defused(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema without anything in its texts that could pass for a mark of ours or cannot be seen."""

    def plain(value: object) -> Any:
        if isinstance(value, str):
            return defused(value)
        if isinstance(value, dict):
            return {key: plain(item) for key, item in cast("dict[str, object]", value).items()}
        if isinstance(value, list):
            return [plain(item) for item in cast("list[object]", value)]
        return value

    return plain(schema)
