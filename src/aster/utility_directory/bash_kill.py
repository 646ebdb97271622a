"""Ending a background command, with everything it has started. One that has ended already stays as it ended."""

from typing import Final

from aster.brain.background import BackgroundToldRow
from aster.brain.records import ThreadKey
from aster.contracts.tools import Effect, ToolDef, ToolOutcome
from aster.infra.clock import now_ms
from aster.utility_directory.bash_output import ID, unknown
from aster.utility_directory.tool import Input, Tool, ToolContext, input_schema

WHY: Final = "it was ended with bash_kill"


class BashKill(Tool):
    untrusted_output = False
    definition = ToolDef(
        name="bash_kill",
        description=(
            "End a background command of this task (bash with run_in_background), with everything it has started."
            " What it wrote until then can still be read with bash_output."
        ),
        input_schema=input_schema(("id",), id=ID),
    )

    def effect(self, given: Input) -> Effect:
        return Effect.IDEMPOTENT

    async def run(self, given: Input, context: ToolContext) -> ToolOutcome:
        background, key, name = context.background, ThreadKey(context.user_id, context.task_id), given["id"]
        record = None if background is None else await background.record(key, name)
        if background is None or record is None:
            return unknown(name)
        running = background.get(key, name)
        if running is not None:
            running.stop(WHY)
            await running.over.wait()
            record = await background.record(key, name) or record
        distant = running is None and background.elsewhere.runs(record)
        if distant:
            record = await background.elsewhere.stop(record, WHY)
            if record.ended_at is None:
                text = f"Error: {name} runs on another replica, which was asked to end it and has not done so yet."
                return ToolOutcome.error(text, reason="not_ended")
        context.keep(BackgroundToldRow(runtime_task_id=name, told_at=now_ms()))
        status = "lost" if record.ended_at is None else record.status
        data = {"id": name, "status": status, "exit_code": record.exit_code}
        if (running is not None or distant) and status == "killed":
            return ToolOutcome.text(f"{name} was killed, with everything it had started.", data)
        return ToolOutcome.text(f"{name} had ended before: {status}.", data)
