"""The plan gate: until the plan of a team's member is approved, nothing that it or anybody who works for it calls
changes anything.

How it stands is a row, read anew before every batch of calls, so it holds after a crash, on another replica, and
whatever the conversation still says. It is looked at before permissions and questions, and no mode, rule, grant, hook
or answer opens it.
"""

from typing import Final

from aster.brain.records import ThreadKey
from aster.brain.team_requests import TeamRequestStore
from aster.contracts.team_requests import GateStatus
from aster.contracts.tools import PLAN_BLOCKED, Effect, OutcomeClass, ToolOutcome
from aster.contracts.turn import TurnRequest
from aster.engine_core.client_tools import ClientTool
from aster.sandbox.policy import Policy
from aster.utility_directory.tool_runtime import Prepared

_NEXT: Final[dict[GateStatus, str]] = {
    "required": "Look around as you need to, then hand in a plan with submit_plan.",
    "pending": "It waits for its answer, which you are told; until then only look, or end your turn.",
    "rejected": "Change it as you were told and hand it in again with submit_plan.",
}


async def status(requests: TeamRequestStore, key: ThreadKey, request: TurnRequest) -> GateStatus | None:
    """How it stands with the plan that a turn has to wait for; None when it has to wait for none."""
    if request.parent is None or not request.parent.team_id:
        return None
    gate = await requests.gate(key.user_id, key.task_id)
    return None if gate is None else gate.status


def blocked(prepared: Prepared, policy: Policy, *, issued: bool = False) -> ToolOutcome | None:
    """What a call comes to that the gate does not let through; None if it may go on."""
    if policy.plan is None or not policy.waits_for_plan or _only_looks(prepared):
        return None
    text = (
        f"Blocked: plan status is {policy.plan}. Nothing may be changed before it is approved. {_NEXT[policy.plan]}"
    )
    if issued:
        text = f"{text} The engine restarted while this ran; it is unknown whether it finished."
    failure = OutcomeClass.UNKNOWN if issued else OutcomeClass.DIAGNOSTIC
    return ToolOutcome.error(text, reason=PLAN_BLOCKED, failure=failure, data={"plan_status": policy.plan})


def _only_looks(prepared: Prepared) -> bool:
    """By its effect, as permissions know it; what a client would run may be anything."""
    if isinstance(prepared.tool, ClientTool):
        return False
    return prepared.tool.own_notes or prepared.effect is Effect.PURE
