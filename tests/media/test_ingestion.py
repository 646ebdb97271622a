"""Long texts become documents that the model looks up: through HTTP, from the message to the answer of a tool."""

from typing import Any

from aster.testing import ModelServer, Reply, Text, ToolCall
from tests.engine_core.frames import events
from tests.live import Live, live
from tests.media.samples import attached
from tests.utility_directory.test_web_reading import pdf

ON: dict[str, Any] = {"content_ingestion_enabled": True, "content_ingestion_chars": 4_000}
NEEDLE = "The password of the lighthouse is heliotrope."


def long_text(needle: str = NEEDLE, paragraphs: int = 60) -> str:
    """Many paragraphs of other things, the needle in the middle, the wish at the end."""
    filler = [
        f"Paragraph {number} tells of ships, nets and weather number {number * 7}." * 3
        for number in range(paragraphs)
    ]
    filler.insert(paragraphs // 2, needle)
    return "Here is my book.\n\n" + "\n\n".join(filler) + "\n\nWhat is it about?"


async def documents(engine: Live, **params: Any) -> list[dict[str, Any]]:
    return (await engine.http.get("/memory/documents", params=params)).json()["documents"]


async def test_a_long_message_keeps_its_ends_and_is_found_by_tools(model: ModelServer) -> None:
    async with live(model, **ON) as engine:
        model.enqueue(Reply([ToolCall("ingested_search", {"query": "password of the lighthouse"})]))
        model.enqueue(Reply([Text("heliotrope")]))
        text = long_text()
        frames = await engine.execute(text, memory=False)
        (kept,) = await documents(engine, task_id="t1")
        said = events(frames, "user_message")[0]["content"][0]["text"]
        assert len(said) < 3_000
        assert said.startswith("Here is my book.")
        assert said.endswith("What is it about?")
        assert kept["document"] in said
        assert NEEDLE not in said
        result = events(frames, "tool_result")[0]
        assert NEEDLE in result["output"]
        assert result["data"]["passages"][0]["document"] == kept["document"]
        assert (kept["task_id"], kept["extractor"], kept["title"]) == ("t1", "ingestion", "pasted text")
        assert kept["characters"] > len(text) * 0.9
        offered = [tool["function"]["name"] for tool in model.calls[0].body["tools"]]
        assert {"ingested_search", "ingested_read"} <= set(offered)


async def test_a_document_is_read_part_by_part(model: ModelServer) -> None:
    async with live(model, **ON) as engine:
        model.enqueue(Reply([Text("ok")]))
        await engine.execute(long_text())
        (kept,) = await documents(engine)
        name, parts = kept["document"], kept["parts"]
        calls = (
            ToolCall("ingested_read", {"document": name, "parts": 4}, id="a"),
            ToolCall("ingested_read", {"document": name, "part": 5}, id="b"),
            ToolCall("ingested_read", {"document": name, "part": 99}, id="c"),
            ToolCall("ingested_read", {"document": "no"}, id="d"),
            ToolCall("ingested_search", {"query": "lighthouse", "document": "no"}, id="e"),
        )
        model.enqueue(Reply(list(calls)), Reply([Text("ok")]))
        results = events(await engine.execute("read it"), "tool_result")
        one, two, *wrong = sorted(results, key=lambda result: result["tool_call_id"])
        assert f"parts 1 to 4 of {parts}. Part 5 goes on" in one["output"]
        assert "This is its end" in two["output"]
        assert (one["data"]["last"], two["data"]["first"], two["data"]["last"]) == (4, 5, parts)
        assert [result["error"] for result in wrong] == ["not_found"] * 3
        assert f"has {parts} parts" in wrong[0]["output"]


async def test_the_same_text_is_not_put_in_twice(model: ModelServer) -> None:
    async def parts(engine: Live) -> set[str]:
        params = {"store": "documents", "limit": 500}
        return {one["id"] for one in (await engine.http.get("/memory/records", params=params)).json()["records"]}

    async with live(model, **ON) as engine:
        model.enqueue(*[Reply([Text("ok")])] * 3)
        await engine.execute(long_text())
        before = await parts(engine)
        await engine.execute(long_text())
        assert await parts(engine) == before
        await engine.execute(long_text("Another text altogether."))
        assert len(await documents(engine)) == 2


async def test_long_documents_are_ingested_and_short_ones_are_not(model: ModelServer) -> None:
    model.enqueue(Reply([Text("ok")]))
    pages = [f"{NEEDLE} page {number} " + "word " * 60 for number in range(20)]
    media = [
        attached("document", long_text().encode(), "text/markdown", title="book.md"),
        attached("document", b"short", "text/plain", title="note"),
        attached("document", pdf(*pages), "application/pdf", title="scan.pdf"),
        {"type": "text", "text": long_text("Something else.")},
    ]
    async with live(model, **ON, memory_enabled=False) as engine:
        await engine.execute("read these", media=media)
        titles = {one["title"] for one in await documents(engine)}
    assert titles == {"book.md", "scan.pdf", "pasted text"}
    parts = next(m for m in model.calls[0].body["messages"] if m["role"] == "user")["content"]
    assert [("ingested-" in part["text"]) for part in parts] == [True, False, True, True, False]


async def test_documents_are_of_one_user_and_go_with_the_task(model: ModelServer) -> None:
    async with live(model, **ON) as engine:
        model.enqueue(Reply([Text("ok")]))
        await engine.execute(long_text(), "t1")
        memory = engine.engine.memory
        assert await memory.documents("somebody-else", limit=10) == []
        (kept,) = await documents(engine)
        assert await memory.parts_of("somebody-else", kept["document"]) == []
        put = {"document": "kept-by-hand", "text": "Some text of mine.", "task_id": "t1"}
        assert (await engine.http.post("/memory/documents", json=put)).status_code == 200
        assert (await engine.http.delete("/tasks/t1")).status_code == 200
        assert [one["document"] for one in await documents(engine)] == ["kept-by-hand"]


async def test_another_task_is_not_told_unasked(model: ModelServer) -> None:
    async with live(model, **ON) as engine:
        model.enqueue(*[Reply([Text("ok")])] * 3)
        await engine.execute(long_text(), "t1")
        asked = "What is the password of the lighthouse?"
        await engine.execute(asked, "t2")
        assert "heliotrope" not in str(model.calls[-1].body["messages"])
        await engine.execute(asked, "t1")
        assert "heliotrope" in str(model.calls[-1].body["messages"])


async def test_without_the_flag_a_long_message_is_sent_whole(model: ModelServer) -> None:
    model.enqueue(Reply([Text("ok")]))
    async with live(model, content_ingestion_chars=4_000) as engine:
        await engine.execute(long_text())
        assert await documents(engine) == []
    body = model.calls[0].body
    assert NEEDLE in str(body["messages"])
    assert "ingested_search" not in str(body["tools"])


async def test_pages_of_documents(model: ModelServer) -> None:
    async with live(model) as engine:
        for number in range(3):
            await engine.http.post("/memory/documents", json={"document": f"d{number}", "text": f"Text {number}."})
        first = (await engine.http.get("/memory/documents", params={"limit": 2})).json()
        assert [one["document"] for one in first["documents"]] == ["d2", "d1"]
        rest = (await engine.http.get("/memory/documents", params={"limit": 2, "before": first["next"]})).json()
        assert ([one["document"] for one in rest["documents"]], rest["next"]) == (["d0"], None)
