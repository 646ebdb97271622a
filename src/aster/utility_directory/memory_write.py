"""The agent remembers something for later tasks: one tool for facts, rules and what happened, each with its receipt."""

from typing import Any

from aster.contracts.tools import Effect, ToolDef, ToolOutcome
from aster.memory.drafts import Draft
from aster.memory.keeping import SECRET_REFUSED, keep, tells_secret, told
from aster.utility_directory.tool import Input, Tool, ToolContext, input_schema

EXTRACTOR = "tool"


class MemoryWriteTool(Tool):
    setter = True
    untrusted_output = False
    definition = ToolDef(
        name="memory_write",
        description=(
            "Remember something that will matter in later conversations: a fact about the person, a preference, a "
            "decision, a rule. Write one thing per call, complete in itself (names instead of pronouns, dates instead "
            "of `today`). Not for secrets, for the state of this task, or for what files already say."
        ),
        input_schema=input_schema(
            ("text",),
            text={"type": "string", "minLength": 1, "maxLength": 4000, "description": "What to remember."},
            kind={
                "type": "string",
                "enum": ["fact", "rule", "heuristic", "episode"],
                "description": "What is true, what always holds, what usually works, or what happened. fact if not "
                "given.",
            },
            about={"type": "string", "maxLength": 200, "description": "Whom or what it is about."},
            replaces={
                "type": "string",
                "maxLength": 128,
                "description": "The id of the fact that this corrects; it stays in the history.",
            },
        ),
    )

    def effect(self, given: Input) -> Effect:
        return Effect.IDEMPOTENT

    async def run(self, given: Input, context: ToolContext) -> ToolOutcome:
        memory = context.remembering()
        text: str = given["text"]
        if tells_secret(text) or memory.secret_in(text):
            return ToolOutcome.error(f"Error: {SECRET_REFUSED}", reason="secret")
        old: str | None = given.get("replaces")
        if old is not None:
            row = await memory.get(context.user_id, old)
            if row.kind != "fact":
                return ToolOutcome.error(
                    f"Error: {old} is a {row.kind}; only facts are replaced.", reason="not_a_fact"
                )
            if row.fields["content"] == text:
                return _done(row.id, "Known already as")
            written = await memory.correct(context.user_id, old, {"content": text}, EXTRACTOR)
            context.record(told(written))
            return _done(written.row.id, f"It took the place of {old}, as")
        first, last = await context.span()
        draft = Draft(
            "episode" if given.get("kind") == "episode" else "fact",
            _fields(given),
            task_id=context.task_id,
            first_seq=first,
            last_seq=last,
            extractor=EXTRACTOR,
        )
        event, done = await keep(memory, context.user_id, draft, text)
        context.record(event)
        known = done is not None and done.action == "duplicate"
        return _done(event.id, "Known already as" if known else "Remembered as")


def _fields(given: Input) -> dict[str, Any]:
    about = given.get("about", "")
    if given.get("kind") == "episode":
        text = given["text"]
        return {"description": f"{about}: {text}" if about else text}
    return {"content": given["text"], "subject": about, "type": given.get("kind", "fact"), "source": "agent"}


def _done(record_id: str, how: str) -> ToolOutcome:
    return ToolOutcome.text(f"{how} {record_id}.", {"id": record_id})
