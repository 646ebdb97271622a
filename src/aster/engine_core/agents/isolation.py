"""A turn that is shut in: what it may use is an empty directory and the sandbox without a network, and nothing else.

Everything of its user's is left out here, in one place: the workspace, memory, skills' files, artifacts and commands in
the background. It asks nobody, and ends when it has spent what it may.
"""

from dataclasses import replace
from typing import Final

from aster.contracts.turn import CallState
from aster.engine_core import running
from aster.engine_core.services import Services
from aster.engine_core.signals import Ended
from aster.engine_core.turn import Turn
from aster.sandbox.egress import without_egress
from aster.sandbox.paths import Workspace
from aster.utility_directory.tool import ToolContext

MAX_USD: Final = "max_usd"
"""Why a turn ends that has spent what it may."""


def context_of(turn: Turn, services: Services, workspace: Workspace, call: CallState) -> ToolContext:
    """What a call may use."""
    context = running.context_of(turn, services, workspace, call)
    if not turn.state.request.isolated:
        return context
    return ToolContext(
        user_id=context.user_id,
        task_id=context.task_id,
        turn_id=context.turn_id,
        tool_call_id=context.tool_call_id,
        idempotency_key=context.idempotency_key,
        workspace=workspace,
        sandbox=without_egress(services.sandbox),
        tools=context.tools,
        limits=replace(context.limits, bash_seconds=min(SECONDS, context.limits.bash_seconds)),
    )


SECONDS: Final = 30.0
"""How long a command may take that nobody waits for."""


def afford(turn: Turn) -> None:
    """End a turn that has spent what it may."""
    agent = turn.state.request.agent
    if agent is not None and agent.max_usd is not None and turn.state.cost_usd >= agent.max_usd:
        raise Ended(MAX_USD)
