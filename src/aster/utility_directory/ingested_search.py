"""The agent looks for passages in long texts that were put into documents instead of the conversation."""

from aster.contracts.tools import Effect, OutcomeClass, ToolDef, ToolOutcome
from aster.memory.ingested import passages
from aster.memory.memory import Memory
from aster.utility_directory.tool import Input, Tool, ToolContext, input_schema

MOST = 20
USUAL = 5
DOCUMENTS = 100


class IngestedSearch(Tool):
    definition = ToolDef(
        name="ingested_search",
        description=(
            "Find passages in long texts and documents of this conversation that were not shown in full. Each passage"
            " comes with its document and part number; ingested_read reads what stands around it."
        ),
        input_schema=input_schema(
            ("query",),
            query={"type": "string", "minLength": 1, "maxLength": 1000, "description": "What to look for."},
            document={"type": "string", "maxLength": 200, "description": "One document alone, by its name."},
            limit={"type": "integer", "minimum": 1, "maximum": MOST, "description": f"{USUAL} if not given."},
        ),
    )

    def effect(self, given: Input) -> Effect:
        return Effect.PURE

    def concurrent(self, given: Input) -> bool:
        return True

    async def run(self, given: Input, context: ToolContext) -> ToolOutcome:
        memory = context.remembering()
        documents = [given["document"]] if "document" in given else await of_task(memory, context)
        found = await passages(memory, context.user_id, documents, given["query"], given.get("limit", USUAL))
        if not found:
            return nothing_found(given.get("document"))
        shown = (f"[{one.document}, part {one.part.position + 1}]\n{one.part.text}" for one in found)
        places = [{"document": one.document, "part": one.part.position + 1, "score": one.score} for one in found]
        return ToolOutcome.text("\n\n".join(shown), {"passages": places})


async def of_task(memory: Memory, context: ToolContext) -> list[str]:
    """The documents of the conversation at hand."""
    found = await memory.documents(context.user_id, task_id=context.task_id, limit=DOCUMENTS)
    return [document.name for document in found]


def nothing_found(document: str | None) -> ToolOutcome:
    where = f"in {document!r}" if document else "in the documents of this conversation"
    return ToolOutcome.error(
        f"There is nothing about that {where}. Ask in other words, or read the document with ingested_read.",
        reason="not_found",
        failure=OutcomeClass.DIAGNOSTIC,
    )
