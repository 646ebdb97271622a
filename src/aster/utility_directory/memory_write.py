"""The agent remembers something for later tasks: one tool for facts, rules and what happened, each with its receipt."""

from typing import Any

from aster.contracts.tools import Effect, ToolDef, ToolOutcome
from aster.memory.drafts import Draft
from aster.memory.grounding import grounded
from aster.memory.harm import harm
from aster.memory.keeping import SECRET_REFUSED, keep, tells_secret, told
from aster.utility_directory.tool import Input, Tool, ToolContext, input_schema

EXTRACTOR = "tool"
ORDERS = frozenset({"rule", "heuristic"})
UNFOUNDED = 0.5
"""How sure something is that was to be a rule and that the person did not say."""


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
            if (why := _no_order({**given, "kind": row.fields["type"]}, context)) is not None:
                refusal = f"Error: {old} is a {row.fields['type']}, and only the person changes it. {why}"
                return ToolOutcome.error(refusal, reason="no_order")
            if row.fields["content"] == text:
                return _done(row.id, "Known already as")
            written = await memory.correct(context.user_id, old, {"content": text}, EXTRACTOR)
            context.record(told(written))
            return _done(written.row.id, f"It took the place of {old}, as")
        asked, why = given.get("kind"), _no_order(given, context)
        if why is not None:
            given = {**given, "kind": "fact"}
        first, last = await context.span()
        draft = Draft(
            "episode" if given.get("kind") == "episode" else "fact",
            _fields(given),
            task_id=context.task_id,
            first_seq=first,
            last_seq=last,
            extractor=EXTRACTOR,
            confidence=1.0 if why is None else UNFOUNDED,
        )
        event, done = await keep(memory, context.user_id, draft, text)
        context.record(event)
        known = done is not None and done.action == "duplicate"
        told_as = "" if why is None else f" It is kept as a fact and not as a {asked}: {why}"
        return _done(event.id, "Known already as" if known else "Remembered as", told_as)


def _fields(given: Input) -> dict[str, Any]:
    about = given.get("about", "")
    if given.get("kind") == "episode":
        text = given["text"]
        return {"description": f"{about}: {text}" if about else text}
    return {"content": given["text"], "subject": about, "type": given.get("kind", "fact"), "source": "agent"}


def _no_order(given: Input, context: ToolContext) -> str | None:
    """Why what is given as a rule or a heuristic is none: it is followed in every later task, so it has to be the
    person's own word, whatever a page or a tool said."""
    kind = given.get("kind", "fact")
    if kind not in ORDERS:
        return None
    said = context.heard()
    if said is None:
        return None
    if not grounded(given["text"], said):
        return "The person did not say so in this task."
    return harm(given["text"])


def _done(record_id: str, how: str, more: str = "") -> ToolOutcome:
    return ToolOutcome.text(f"{how} {record_id}.{more}", {"id": record_id})
