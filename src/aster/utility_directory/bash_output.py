"""Reading on in what a background command says. How far it was read is committed with the result that shows it, so
nothing is shown twice and nothing is skipped, whatever becomes of the call or of the engine.
"""

from typing import Final

from aster.brain.background import BackgroundReadRow, BackgroundRecord, BackgroundToldRow
from aster.brain.records import ThreadKey
from aster.contracts.tools import Effect, ToolDef, ToolOutcome
from aster.infra.clock import now_ms
from aster.utility_directory.background_spool import Piece, Spool
from aster.utility_directory.tool import Input, Tool, ToolContext, input_schema

PAGE_CHARS: Final = 30_000
MOST_SECONDS: Final = 60.0
_LEEWAY: Final = 5.0

ID = {"type": "string", "description": "The id that bash gave when it started the command (bg_...)."}


class BashOutput(Tool):
    result_chars = None
    definition = ToolDef(
        name="bash_output",
        description=(
            "Read what a background command of this task (bash with run_in_background) has written since you last"
            " read it, and how it stands: running, completed, failed, killed, timeout, or lost when the engine"
            " stopped meanwhile. What was shown once is not shown again; a long output comes in pages, so call"
            " again while there is more. Instead of asking again and again, wait: wait_seconds returns earlier when"
            " it ends."
        ),
        input_schema=input_schema(
            ("id",),
            id=ID,
            wait_seconds={
                "type": "number",
                "minimum": 0,
                "maximum": MOST_SECONDS,
                "description": "Wait so long for the command to end or to fill a page; left out is not at all.",
            },
            offset={
                "type": "integer",
                "minimum": 0,
                "description": "Read from this character of the output on, in place of where you stopped.",
            },
        ),
    )

    def effect(self, given: Input) -> Effect:
        return Effect.PURE

    async def run(self, given: Input, context: ToolContext) -> ToolOutcome:
        background, key, name = context.background, ThreadKey(context.user_id, context.task_id), given["id"]
        running = None if background is None else background.get(key, name)
        record = None if background is None else await background.record(key, name)
        if background is None or record is None:
            return unknown(name)
        position = int(given.get("offset", record.read_to))
        seconds = min(float(given.get("wait_seconds", 0)), context.limits.call_seconds - _LEEWAY)
        distant = running is None and background.elsewhere.runs(record)
        if distant:
            record, spool = await background.elsewhere.wait(record, seconds, position + PAGE_CHARS)
            if record.ended_at is not None:
                spool = await _kept(record, context)
        elif running is not None:
            if seconds > 0:
                await running.wait(seconds, position + PAGE_CHARS)
            if running.over.is_set():
                record = await background.record(key, name) or record
            spool = running.spool
        else:
            spool = await _kept(record, context)
        piece = spool.read(position, PAGE_CHARS)
        context.keep(BackgroundReadRow(runtime_task_id=name, read_to=max(piece.next, record.read_to)))
        if record.ended_at is not None:
            context.keep(BackgroundToldRow(runtime_task_id=name, told_at=now_ms()))
        known = running is not None or distant or record.ended_at is not None
        return _shown(record, record.status if known else "lost", piece, position)


async def _kept(record: BackgroundRecord, context: ToolContext) -> Spool:
    """The output of a command that has ended, from its artifact."""
    data = None if record.artifact_id is None else await context.artifact(record.artifact_id)
    return Spool.restored((data or b"").decode("utf-8", "replace"), record.left_out)


def _shown(record: BackgroundRecord, status: str, piece: Piece, position: int) -> ToolOutcome:
    ended = record.ended_at is not None
    seconds = ((record.ended_at or now_ms()) - record.started_at) / 1000
    state = f"{status} after {seconds:.0f} s" if ended else f"{status} for {seconds:.0f} s"
    if record.exit_code is not None:
        state += f", exit status {record.exit_code}"
    rest = " There is more: call again." if piece.more else " That is all it said." if ended else ""
    if status == "lost":
        rest = " The engine stopped while it ran: what it said last and how far it got are lost."
    body = piece.text.rstrip("\n") or ("(no output)" if position == 0 else "(nothing new)")
    text = f"{body}\n[{record.runtime_task_id}: {state}. Read up to character {piece.next}.{rest}]"
    data = {
        "id": record.runtime_task_id,
        "status": status,
        "exit_code": record.exit_code,
        "offset": position,
        "next_offset": piece.next,
        "more": piece.more,
    }
    return ToolOutcome.text(text, data)


def unknown(name: str) -> ToolOutcome:
    """The outcome of asking about a command that this task does not have."""
    text = f"Error: this task has no background command {name[:80]!r}. Use the id that bash gave at its start."
    return ToolOutcome.error(text, reason="unknown_id")
