"""How an agent in the background stands, and what it said; on request after waiting a while for its end. Once its end
has been shown, it is not told again."""

from typing import Final

from aster.brain.agents import SubagentToldRow
from aster.contracts.tools import Effect, ToolDef, ToolOutcome
from aster.infra.clock import now_ms
from aster.utility_directory.tool import Input, Tool, ToolContext, input_schema

MOST_SECONDS: Final = 600


class AgentOutput(Tool):
    definition = ToolDef(
        name="agent_output",
        description=(
            "Show how an agent that works in the background (spawn_agent with background) stands, and what it said once"
            " it has ended. You are told when it ends, so there is no need to ask again and again; if you have nothing"
            " else to do, wait for it with timeout_seconds."
        ),
        input_schema=input_schema(
            ("id",),
            id={"type": "string", "maxLength": 256, "description": "The id that spawn_agent gave (agent-...)."},
            timeout_seconds={
                "type": "number",
                "minimum": 0,
                "maximum": MOST_SECONDS,
                "description": "How long to wait for its end (0: not at all; at most as long as a command may run).",
            },
        ),
    )

    def effect(self, given: Input) -> Effect:
        return Effect.PURE

    async def run(self, given: Input, context: ToolContext) -> ToolOutcome:
        patience = min(float(given.get("timeout_seconds") or 0), context.limits.bash_seconds)
        found = await context.subagent(given["id"], patience)
        if found is None:
            text = f"Error: this task has no agent {given['id'][:80]!r}. Use the id that spawn_agent gave."
            return ToolOutcome.error(text, reason="unknown_id")
        data = {"id": found.child_task_id, "agent": found.agent, "status": found.status}
        if found.ended_at is None:
            seconds = (now_ms() - found.created_at) / 1000
            waits = ", and waits for a person or for another agent" if found.child_status == "suspended" else ""
            return ToolOutcome.text(f"[{found.agent}: running for {seconds:.0f} s{waits}.]", data)
        context.keep(SubagentToldRow(child_turn_id=found.child_turn_id, told_at=now_ms()))
        return ToolOutcome.text(f"{found.result or '(no answer)'}\n[{found.agent}: {found.status}.]", data)
