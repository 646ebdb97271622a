"""A tool among many is found by its name, by its words, and by what it means."""

from aster.asset_directory.index import ActionIndex
from aster.contracts.tools import ToolDef
from aster.infra.settings import Settings
from aster.memory.embeddings.choice import embedder

SAID = {
    "mail.send_message": "Sends an e-mail to somebody.",
    "calendar.create_event": "Puts an appointment into the calendar.",
    "tracker.create_issue": "Files a bug report in a project.",
    "store.list_orders": "Lists what customers bought.",
}
TOOLS = [ToolDef(name=name, description=text, input_schema={"type": "object"}) for name, text in SAID.items()]


async def first(index: ActionIndex, query: str) -> str:
    return (await index.search(query, 3))[0].name


async def test_by_words() -> None:
    index = ActionIndex(TOOLS, "no vectors here")
    assert await first(index, "create an issue") == "tracker.create_issue"
    assert await first(index, "send message") == "mail.send_message"
    assert await index.search("xyzzy", 3) == []
    assert len(await index.search("create", 1)) == 1


async def test_by_meaning() -> None:
    index = ActionIndex(TOOLS, embedder(Settings.model_validate({})))
    assert await first(index, "schedule a meeting with Bob") == "calendar.create_event"
    assert await first(index, "report a defect in the software") == "tracker.create_issue"
    assert await first(index, "purchases of a client") == "store.list_orders"
