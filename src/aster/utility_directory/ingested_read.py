"""The agent reads on in a long text that was put into a document instead of the conversation."""

from aster.contracts.tools import Effect, OutcomeClass, ToolDef, ToolOutcome
from aster.utility_directory.tool import Input, Tool, ToolContext, input_schema

MOST = 25
USUAL = 10


class IngestedRead(Tool):
    definition = ToolDef(
        name="ingested_read",
        description=(
            "Read a long text or document of this conversation that was not shown in full, from any part on. A part is"
            " about 1,200 characters; the answer says how many there are."
        ),
        input_schema=input_schema(
            ("document",),
            document={"type": "string", "minLength": 1, "maxLength": 200, "description": "Its name."},
            part={"type": "integer", "minimum": 1, "description": "The first part to read; 1 if not given."},
            parts={"type": "integer", "minimum": 1, "maximum": MOST, "description": f"{USUAL} if not given."},
        ),
    )

    def effect(self, given: Input) -> Effect:
        return Effect.PURE

    def concurrent(self, given: Input) -> bool:
        return True

    async def run(self, given: Input, context: ToolContext) -> ToolOutcome:
        memory, name = context.remembering(), given["document"]
        first, count = given.get("part", 1), given.get("parts", USUAL)
        everything = await memory.parts_of(context.user_id, name)
        total, found = len(everything), everything[first - 1 : first - 1 + count]
        if not found:
            there = f"{name!r} has {total} parts." if total else f"There is no document {name!r}."
            return ToolOutcome.error(there, reason="not_found", failure=OutcomeClass.DIAGNOSTIC)
        last = first - 1 + len(found)
        rest = f" Part {last + 1} goes on." if last < total else " This is its end."
        head = f"[{name}, parts {first} to {last} of {total}.{rest}]"
        text = "\n".join(part.text for part in found)
        return ToolOutcome.text(f"{head}\n{text}", {"document": name, "first": first, "last": last, "parts": total})
