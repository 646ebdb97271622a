"""The agent looks into the person's memory by itself, for what the message alone did not bring up."""

from aster.brain.memory_kinds import SEARCHED
from aster.brain.memory_records import MemoryRow
from aster.contracts.tools import Effect, ToolDef, ToolOutcome
from aster.infra.clock import iso_ms
from aster.utility_directory.tool import Input, Tool, ToolContext, input_schema

MOST = 20
USUAL = 8
SHOWN_CHARS = 2000


class MemorySearchTool(Tool):
    definition = ToolDef(
        name="memory_search",
        description=(
            "Search what is remembered of this person from earlier conversations: facts, what was said, people, "
            "lessons, documents. What fits the message best is in the context already; search for anything else. "
            "Times (`last week`, `in March`) narrow the search. Each line has an id and where it came from."
        ),
        input_schema=input_schema(
            ("query",),
            query={"type": "string", "minLength": 1, "maxLength": 1000, "description": "What to look for."},
            store={"type": "string", "enum": list(SEARCHED), "description": "One kind of memory alone."},
            limit={"type": "integer", "minimum": 1, "maximum": MOST, "description": f"{USUAL} if not given."},
        ),
    )

    def effect(self, given: Input) -> Effect:
        return Effect.PURE

    def concurrent(self, given: Input) -> bool:
        return True

    async def run(self, given: Input, context: ToolContext) -> ToolOutcome:
        memory = context.remembering()
        limit: int = given.get("limit", USUAL)
        stores = (given["store"],) if "store" in given else SEARCHED
        answer = await memory.search(context.user_id, given["query"], stores, limit=limit, isolated=True)
        rows = [match.row for match in answer.best(limit)]
        if not rows:
            return ToolOutcome.text("Nothing is remembered about that.", {"ids": []})
        ids = [row.id for row in rows]
        await memory.use(context.user_id, ids, context.task_id, context.turn_id)
        return ToolOutcome.text("\n".join(map(line, rows)), {"ids": ids})


def line(row: MemoryRow) -> str:
    """A record in one line, with its receipt."""
    source = f", task {row.task_id} #{row.first_seq}-{row.last_seq}" if row.task_id else ""
    text = row.text if len(row.text) <= SHOWN_CHARS else f"{row.text[:SHOWN_CHARS]}…"
    indented = text.replace("\n", "\n  ")
    return f"- [{iso_ms(row.event_at)[:10]}, {row.store} {row.id}{source}] {indented}"
