"""The agent notes something for the rest of this task: what it saw, decided or summed up. A note outlives the turn and
what is left out of a long conversation, and ends by itself.

It is committed with the call's result, so it is kept once or not at all.
"""

from aster.brain.memory_records import JournalRow
from aster.contracts.events import WorkingMemoryUpdate
from aster.contracts.memory import EntryType
from aster.contracts.tools import Effect, ToolDef, ToolOutcome
from aster.infra.clock import iso_ms, now_ms
from aster.memory.drafts import Draft
from aster.memory.keeping import SECRET_REFUSED, tells_secret
from aster.utility_directory.tool import Input, Tool, ToolContext, input_schema

EXTRACTOR = "tool"
LONGEST = 2000
USUAL_HOURS, MOST_HOURS = 7 * 24, 90 * 24


class WorkingMemoryWrite(Tool):
    own_notes = True
    setter = True
    untrusted_output = False
    definition = ToolDef(
        name="working_memory_write",
        description=(
            "Note something you will need later in this task, in this turn or the next: a finding, a decision and its "
            "reason, a summary of where you are. You are shown your notes when the conversation goes on, also when "
            "older messages are left out. For what matters beyond this task use memory_write. Not for secrets."
        ),
        input_schema=input_schema(
            ("text",),
            text={"type": "string", "minLength": 1, "maxLength": LONGEST, "description": "The note, in full."},
            type={
                "type": "string",
                "enum": [kind.value for kind in EntryType],
                "description": "What was seen (observation), chosen (decision), summed up (summary), or a note.",
            },
            hours={
                "type": "integer",
                "minimum": 1,
                "maximum": MOST_HOURS,
                "description": "How long it is kept; a week if not given.",
            },
        ),
    )

    def effect(self, given: Input) -> Effect:
        return Effect.IDEMPOTENT

    async def run(self, given: Input, context: ToolContext) -> ToolOutcome:
        memory = context.remembering()
        text: str = given["text"]
        if not text.strip():
            return ToolOutcome.error("Error: the note has no text. Nothing was noted.", reason="invalid_input")
        if tells_secret(text) or memory.secret_in(text):
            return ToolOutcome.error(f"Error: {SECRET_REFUSED}", reason="secret")
        first, last = await context.span()
        now = now_ms()
        kind = EntryType(given.get("type", EntryType.NOTE))
        expires_at = now + given.get("hours", USUAL_HOURS) * 3_600_000
        draft = Draft(
            "note",
            {"text": text, "type": kind, "expires_at": expires_at},
            task_id=context.task_id,
            first_seq=first,
            last_seq=last,
            extractor=EXTRACTOR,
        )
        row = memory.row(context.user_id, draft, now)
        memory.noting(context.user_id, row)
        context.keep(
            JournalRow(
                user_id=context.user_id, task_id=context.task_id, turn_id=context.turn_id, at=now, said=(row,)
            )
        )
        context.record(
            WorkingMemoryUpdate(entry_id=row.id, entry_type=kind, text=row.text, expires_at=iso_ms(expires_at))
        )
        return ToolOutcome.text(f"Noted as {row.id}.", {"id": row.id})
