"""The agent forgets what the person wants forgotten. One record goes at once; when more would go, a person is asked.

What hangs on a record goes with it, so a call that names one record and would take along others does nothing but
say so: it has to be made again in so many words, and that is what the person is asked about.
"""

from aster.contracts.events import MemoryWrite
from aster.contracts.tools import Effect, ToolDef, ToolOutcome
from aster.sandbox.permissions import ALLOW, Decision
from aster.utility_directory.memory_search import line
from aster.utility_directory.tool import Input, Tool, ToolContext, input_schema

MOST = 50
SHOWN = 20
SHOWN_CHARS = 160


class MemoryForgetTool(Tool):
    setter = True
    definition = ToolDef(
        name="memory_forget",
        description=(
            "Forget memories for good, by their ids (memory_search shows them), when the person wants it. If other "
            "memories hang on them, nothing happens and you are told which; call again with `cascade` to forget all "
            "of them. The person is asked before more than one goes."
        ),
        input_schema=input_schema(
            ("ids",),
            ids={
                "type": "array",
                "minItems": 1,
                "maxItems": MOST,
                "uniqueItems": True,
                "items": {"type": "string", "minLength": 1, "maxLength": 128},
                "description": "What to forget.",
            },
            cascade={"type": "boolean", "description": "Also what hangs on them."},
        ),
    )

    def effect(self, given: Input) -> Effect:
        return Effect.IDEMPOTENT

    def decide(self, given: Input, context: ToolContext) -> Decision:
        ids: list[str] = given["ids"]
        if len(ids) == 1 and not given.get("cascade"):
            return ALLOW
        more = " and everything that hangs on them" if given.get("cascade") else ""
        reason = f"It forgets these memories{more} for good."
        return Decision(behavior="ask", reason=reason, every_time=True)

    async def details(self, given: Input, context: ToolContext) -> str:
        """The words of everything that would go: an id tells a person nothing."""
        memory = context.remembering()
        asked = [row.id for row in await memory.found(context.user_id, given["ids"])]
        doomed = (await memory.preview(context.user_id, asked)).records if asked else []
        lines = [f"- {_short(one.row.text)} ({one.row.id})" for one in doomed[:SHOWN]]
        more = [f"… and {len(doomed) - SHOWN} more"] if len(doomed) > SHOWN else []
        return "\n".join([*lines, *more]) or "Nothing with these ids is remembered."

    async def run(self, given: Input, context: ToolContext) -> ToolOutcome:
        memory = context.remembering()
        asked = [row.id for row in await memory.found(context.user_id, given["ids"])]
        if not asked:
            return ToolOutcome.text("Nothing with these ids is remembered.", {"forgotten": []})
        doomed = [one.row for one in (await memory.preview(context.user_id, asked)).records]
        others = [row for row in doomed if row.id not in asked]
        if others and not given.get("cascade"):
            lines = "\n".join(map(line, others))
            text = (
                f"Nothing was forgotten yet. These hang on it and would go too; call again with cascade:\n{lines}"
            )
            return ToolOutcome.text(text, {"forgotten": [], "others": [row.id for row in others]})
        gone = await memory.forget(context.user_id, asked)
        for row in gone:
            context.record(MemoryWrite(store=row.store, id=row.id, action="forgotten", summary=f"a {row.kind}"))
        return ToolOutcome.text(f"Forgotten: {len(gone)}.", {"forgotten": [row.id for row in gone]})


def _short(text: str) -> str:
    """A memory in one line, so that none of it can pass for another line of the question."""
    line = " ".join(text.split())
    return line if len(line) <= SHOWN_CHARS else f"{line[:SHOWN_CHARS]}…"
