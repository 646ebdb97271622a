"""What may run in a turn: its mode, the operator's rules and the grants people gave, read anew for every batch.

A mode is settled when a message is taken and stays with its turn; rules and grants hold from the moment they are
changed, whoever changed them and wherever.
"""

from typing import Final, NamedTuple

import msgspec

from aster.brain.grants import GrantRow
from aster.brain.protocol import Brain
from aster.brain.records import ThreadKey
from aster.contracts.blocks import text_of
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.events import PermissionSuggestion
from aster.contracts.permissions import GrantOffer, PermissionMode
from aster.contracts.tools import ToolCall, ToolOutcome
from aster.contracts.turn import TurnRequest, TurnState
from aster.engine_core import plan_gate
from aster.engine_core.connectors.toolset import Connectors
from aster.engine_core.orders import Order
from aster.infra.settings import Settings
from aster.sandbox.backend import Sandbox
from aster.sandbox.offers import offer
from aster.sandbox.permissions import Decision
from aster.sandbox.policy import Policy
from aster.sandbox.rule_file import RuleFile
from aster.sandbox.rules import Rule, literal
from aster.sandbox.workspaces import Workspaces
from aster.utility_directory.tool import ToolContext

MAIN_AGENT: Final = "main"
"""The agent that talks to people: the one a grant of scope `agent` is for as long as there is no other."""

MOST_GRANTS: Final = 500
DENIALS_IN_A_ROW: Final = 3


def moded(settings: Settings, order: Order) -> Order:
    """The order with the mode its turn will run in; refused when that is one the operator has not allowed."""
    mode = order.permission_mode or settings.permission_mode
    if mode == "bypass" and not settings.permission_bypass_allowed:
        problem = "may be default, plan or auto; the operator has not allowed bypass (PERMISSION_BYPASS_ALLOWED)"
        raise EngineError(
            ErrorCode.PERMISSION_DENIED,
            f"`permission_mode` {problem}.",
            {"fields": [{"field": "permission_mode", "problem": problem}]},
        )
    return msgspec.structs.replace(order, permission_mode=mode)


def mode_of(settings: Settings, state: TurnState) -> PermissionMode:
    """The mode a turn runs in now: what it began with, unless the operator has withdrawn it since."""
    mode = state.request.permission_mode
    return "default" if mode == "bypass" and not settings.permission_bypass_allowed else mode


def advised(state: TurnState) -> PermissionSuggestion | None:
    """What to say after so many refusals in a row; the event that says it starts the count again."""
    if state.denials < DENIALS_IN_A_ROW:
        return None
    return PermissionSuggestion(
        denials=state.denials,
        mode="plan",
        message=f"{state.denials} calls in a row were refused. In plan mode the agent looks and proposes first.",
    )


class Weighed(NamedTuple):
    """A decision, and what an "always" would store if it is a question."""

    decision: Decision
    offer: GrantOffer | None = None


class Permissions:
    """The policy for every call, and who may look at it and change it."""

    def __init__(
        self, settings: Settings, brain: Brain, connectors: Connectors, workspaces: Workspaces, sandbox: Sandbox
    ) -> None:
        if settings.permission_mode == "bypass" and not settings.permission_bypass_allowed:
            raise EngineError(
                ErrorCode.CONFIGURATION_INVALID,
                "PERMISSION_MODE is bypass: set PERMISSION_BYPASS_ALLOWED=true as well, or another mode.",
            )
        self._settings = settings
        self._brain = brain
        self._connectors = connectors
        self._workspaces = workspaces
        self._sandbox = sandbox
        self._file = RuleFile(settings.permission_rules_path)

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The operator's."""
        return self._file.rules

    async def policy(self, key: ThreadKey, state: TurnState) -> Policy:
        """What holds for a turn at this moment. For one that is shut in nobody has granted anything, and nobody is
        there."""
        if state.request.isolated:
            return Policy(rules=self._file.rules, unattended=True)
        return Policy(
            mode=mode_of(self._settings, state),
            rules=await self._rules_of(key, state.request),
            unattended=state.request.unattended and self._settings.unattended_policy == "deny",
            plan=await plan_gate.status(self._brain.team_requests, key, state.request),
        )

    async def _rules_of(self, key: ThreadKey, request: TurnRequest) -> tuple[Rule, ...]:
        """What holds for the agent of a turn. For a sub-agent, what was granted to it when it worked for the same
        agents in the same order, and everything that was refused to any of them."""
        agent, parent = request.agent, request.parent
        if agent is None or parent is None:
            return await self.rules_for(key, MAIN_AGENT if agent is None else agent.label)
        home = ThreadKey(key.user_id, parent.home_task_id)
        granted = {row.grant_id: row for row in await self._brain.grants_for(home, agent.label)}
        for name in dict.fromkeys((*parent.agents, agent.name)):
            stricter = (row for row in await self._brain.grants_for(home, name) if row.behavior != "allow")
            granted |= {row.grant_id: row for row in stricter}
        return (*self._file.rules, *map(rule_of, granted.values()))

    async def rules_for(self, key: ThreadKey, agent: str = MAIN_AGENT) -> tuple[Rule, ...]:
        """The operator's rules and the grants that reach into a task."""
        granted = await self._brain.grants_for(key, agent)
        return (*self._file.rules, *map(rule_of, granted))

    async def grant(self, row: GrantRow) -> None:
        """Store a grant; it holds from the next call on. One for a connected server's tool is for the tool as it is."""
        await self._connectors.look_up(row.user_id)
        row = msgspec.structs.replace(row, pin=self._connectors.pin(row.user_id, row.tool))
        held = await self._brain.grants(row.user_id)
        check_room(held)
        await self._brain.put(row)

    async def test(self, key: ThreadKey, call: ToolCall, mode: PermissionMode) -> Weighed:
        """What would happen with a call in a task of this user; nothing is run."""
        await self._connectors.look_up(key.user_id)
        return self.weigh(key, call, Policy(mode=mode, rules=await self.rules_for(key)))

    def weigh(self, key: ThreadKey, call: ToolCall, policy: Policy) -> Weighed:
        """The decision on a call under a policy, in the workspace as it is."""
        tools = self._connectors.tools(key.user_id)
        prepared = tools.prepare(call)
        if isinstance(prepared, ToolOutcome):
            return Weighed(Decision(behavior="deny", reason=text_of(prepared.output), decided_by="validation"))
        workspace = self._workspaces.planned(*key)
        context = ToolContext(
            user_id=key.user_id,
            task_id=key.task_id,
            turn_id="",
            tool_call_id=call.id,
            idempotency_key="",
            workspace=workspace,
            sandbox=self._sandbox,
            policy=policy,
        )
        decision = tools.decide(prepared, context)
        if decision.behavior != "ask":
            return Weighed(decision)
        return Weighed(decision, offer(prepared.tool.definition.name, prepared.input, decision, workspace))


def check_room(held: list[GrantRow]) -> None:
    """Every call is compared with every grant, so there is a limit to their number."""
    if len(held) >= MOST_GRANTS:
        raise EngineError(
            ErrorCode.INVALID_REQUEST,
            f"There are {len(held)} grants already, the most there can be. Revoke some with DELETE /permissions.",
        )


def rule_of(row: GrantRow) -> Rule:
    """A grant as a rule. One that came from an answer and stands for more than that one call is careful."""
    careful = row.request_id is not None and literal(row.pattern) is None and row.tool == "bash"
    return Rule(
        behavior=row.behavior,
        tool=row.tool,
        pattern=row.pattern,
        source="grant",
        id=row.grant_id,
        careful=careful,
        pin=row.pin,
    )
