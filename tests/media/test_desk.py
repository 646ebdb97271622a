"""What is attached to a message, from the request to what the model is sent, with each flag on and off."""

import asyncio
import base64
import json
from pathlib import Path
from typing import Any

import pytest

from aster.engine_core.stripped_media import NOUNS
from aster.media.desk import FETCHES
from aster.testing import Failure, ModelServer, Reply, Rule, Text, ToolCall
from tests.engine_core.frames import events, last, transitions
from tests.live import Live, live
from tests.media.samples import MP4, WAV, attached, linked, picture
from tests.utility_directory.test_web_reading import pdf
from tests.web_server import Asked, reply, web_server

CHECKED = {"media_presend_validation_enabled": True}


def sent(model: ModelServer, call: int = -1) -> list[dict[str, Any]]:
    """The parts of the first message of the user, as the model got them."""
    first = next(m for m in model.calls[call].body["messages"] if m["role"] == "user")
    return first["content"] if isinstance(first["content"], list) else [{"type": "text", "text": first["content"]}]


async def refusal(engine: Live, *media: dict[str, Any]) -> tuple[int, str]:
    """The status and the field a message is refused with."""
    response = await engine.http.post("/execute", json={"message": "look", "task_id": "t", "media": list(media)})
    body = response.json()
    return response.status_code, body["details"]["fields"][0]["field"]


async def test_a_type_is_told_by_content(model: ModelServer) -> None:
    model.enqueue(Reply([Text("seen")]))
    async with live(model, **CHECKED) as engine:
        await engine.execute("look", media=[attached("image", picture("JPEG"), "image/png")])
    assert sent(model)[0]["image_url"]["url"].startswith("data:image/jpeg;base64,")


@pytest.mark.parametrize(
    "wrong",
    [
        attached("image", b"#!/bin/sh", "image/png"),
        attached("image", pdf("x"), "image/png"),
        attached("document", picture(), "application/pdf"),
        attached("document", b"MZ\x90\x00", "text/plain"),
        attached("audio", MP4.replace(b"ftyp", b"what"), "audio/wav"),
        attached("video", WAV, "video/mp4"),
    ],
    ids=["script", "pdf-as-image", "image-as-pdf", "program", "noise", "sound-as-video"],
)
async def test_another_kind_is_refused_and_nothing_begins(model: ModelServer, wrong: dict[str, Any]) -> None:
    async with live(model, **CHECKED) as engine:
        assert await refusal(engine, {"type": "text", "text": "x"}, wrong) == (422, "media.1")
        assert (await engine.http.get("/tasks")).json()["tasks"] == []
    assert model.calls == []


async def test_sizes_are_checked(model: ModelServer) -> None:
    wide = attached("image", picture(size=(8001, 1)), "image/png")
    heavy = attached("image", picture() + bytes(5_000_000), "image/png")
    async with live(model, **CHECKED) as engine:
        assert await refusal(engine, wide) == (413, "media.0")
        assert await refusal(engine, heavy) == (413, "media.0")


async def test_without_the_flag_media_go_as_they_came(model: ModelServer) -> None:
    model.enqueue(Reply([Text("seen")]))
    odd = attached("image", b"hello", "image/png")
    async with live(model) as engine:
        await engine.execute("look", media=[odd])
    assert sent(model)[0]["image_url"]["url"] == "data:image/png;base64,aGVsbG8="


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1/a.png", "http://169.254.169.254/x", "http://localhost:9/a", "http://[::1]/"]
)
@pytest.mark.parametrize("settings", [{}, CHECKED], ids=["passed-on", "fetched"])
async def test_addresses_inside_are_refused(model: ModelServer, url: str, settings: dict[str, Any]) -> None:
    async with live(model, **settings) as engine:
        assert await refusal(engine, linked("image", url)) == (422, "media.0")


async def test_an_address_is_passed_on_or_fetched(model: ModelServer) -> None:
    model.enqueue(Reply([Text("seen")]), Reply([Text("seen")]))
    far = "https://pictures.example.invalid/cat.png"
    async with live(model) as engine:
        await engine.execute("look", media=[linked("image", far)])
    assert sent(model)[0]["image_url"]["url"] == far

    def answer(asked: Asked) -> bytes:
        return reply(picture("JPEG"), "image/png") if asked.target == "/cat" else reply(b"<html>", "text/html")

    async with web_server(answer) as web, live(model, **CHECKED, fetch_allowed_private="127.0.0.1") as engine:
        await engine.execute("look", media=[linked("image", f"{web.url}/cat")])
        assert sent(model)[0]["image_url"]["url"].startswith("data:image/jpeg;base64,")
        assert await refusal(engine, linked("image", f"{web.url}/page")) == (422, "media.0")
        assert await refusal(engine, linked("image", "http://127.0.0.1:9/gone")) == (422, "media.0")


async def test_what_is_fetched_for_one_request_is_limited_together(model: ModelServer) -> None:
    model.enqueue(Reply([Text("seen")]))
    limits = {"fetch_allowed_private": "127.0.0.1", "max_request_bytes": 40_000}
    async with (
        web_server(lambda _: reply(picture() + bytes(15_000), "image/png")) as web,
        live(model, **CHECKED, **limits) as engine,
    ):
        cat = linked("image", f"{web.url}/cat")
        await engine.execute("look", media=[cat, cat])
        assert await refusal(engine, cat, cat, cat, cat) == (413, "media.2")
    assert len(web.asked) == 5


async def test_few_addresses_are_fetched_at_the_same_time(model: ModelServer) -> None:
    model.enqueue(*(Reply([Text("seen")]) for _ in range(FETCHES + 1)))
    busy, full, crowded, enough = 0, asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def slow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal busy
        await reader.readuntil(b"\r\n\r\n")
        busy += 1
        if busy >= FETCHES:
            (full if busy == FETCHES else crowded).set()
        await enough.wait()
        busy -= 1
        writer.write(reply(picture(), "image/png"))
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(slow, "127.0.0.1", 0)
    cat = linked("image", f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/cat")
    async with (
        server,
        live(model, **CHECKED, fetch_allowed_private="127.0.0.1") as engine,
        asyncio.TaskGroup() as group,
    ):
        for at in range(FETCHES + 1):
            group.create_task(engine.execute("look", f"t{at}", media=[cat]))
        await full.wait()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(crowded.wait(), 0.3)
        enough.set()


async def test_a_large_image_is_made_smaller(model: ModelServer) -> None:
    model.enqueue(Reply([Text("seen")]))
    large = attached("image", picture("JPEG", (4096, 64)), "image/jpeg")
    async with live(model, media_image_resize_enabled=True) as engine:
        frames = await engine.execute("look", media=[large])
        block = events(frames, "user_message")[0]["content"][0]
        assert block["note"].startswith("made smaller from 4096×64 pixels")
        assert "note" not in json.dumps(sent(model))
        data = base64.b64decode(sent(model)[0]["image_url"]["url"].partition(",")[2])
        assert len(data) < len(base64.b64decode(large["source"]["data"]))
        broken = attached("image", picture("PNG", (3000, 9))[:60], "image/png")
        assert await refusal(engine, broken) == (422, "media.0")


async def test_a_pdf_is_read_for_models_that_cannot(model: ModelServer) -> None:
    model.enqueue(Reply([Text("read")]), Reply([Text("read")]))
    paper = attached("document", pdf("The needle is 42"), "application/pdf", title="paper.pdf")
    async with live(model) as engine:
        frames = await engine.execute("read", media=[paper])
    assert sent(model)[0] == {"type": "text", "text": "Document “paper.pdf”:\n## Page 1\n\nThe needle is 42"}
    assert events(frames, "media_notice") == []
    async with live(None, llm_provider="anthropic", llm_base_url=model.url) as engine:
        frames = await engine.execute("read", media=[paper])
    assert sent(model)[0]["type"] == "document"
    assert "text" not in events(frames, "user_message")[0]["content"][0]


async def test_what_a_model_cannot_be_shown_is_said(model: ModelServer) -> None:
    model.enqueue(Reply([Text("I cannot hear it.")]), Reply([Text("heard")]))
    media = [attached("audio", WAV, "audio/wav"), attached("video", MP4, "video/mp4")]
    async with live(model) as engine:
        frames = await engine.execute("listen", media=media)
    notices = events(frames, "media_notice")
    assert [(n["action"], n["kind"], n.get("block_index", 0)) for n in notices] == [
        ("unsupported", "audio", 0),
        ("unsupported", "video", 1),
    ]
    assert all("cannot be shown" in part["text"] for part in sent(model)[:2])
    async with live(None, llm_provider="gemini", llm_base_url=f"{model.url}/v1beta") as engine:
        frames = await engine.execute("listen", media=media)
    parts = model.calls[-1].body["contents"][0]["parts"]
    assert [part["inlineData"]["mimeType"] for part in parts[:2]] == ["audio/wav", "video/mp4"]
    assert events(frames, "media_notice") == []


REFUSED = Failure(400, message="image input is not supported by this model")
IMAGE = attached("image", picture(), "image/png")


async def test_a_refused_image_is_stripped_and_said(model: ModelServer) -> None:
    model.enqueue(REFUSED, Reply([Text("I cannot see it.")]), Reply([Text("ok")]))
    note = attached("document", b"some text", "text/plain")
    async with live(model) as engine:
        frames = await engine.execute("look", media=[IMAGE, note])
        assert transitions(frames) == ["media_recovery"]
        (notice,) = events(frames, "media_notice")
        assert (notice["action"], notice["kind"], notice["reason"]) == ("stripped", "image", "refused_by_provider")
        assert notice["message_id"] == events(frames, "user_message")[0]["message_id"]
        assert [part["type"] for part in sent(model, 0)] == ["image_url", "text", "text"]
        assert NOUNS["image"] in sent(model, 1)[0]["text"]
        assert "some text" in sent(model, 1)[1]["text"]
        await engine.execute("and now?")
        assert len(model.calls) == 3
        assert sent(model, 2) == sent(model, 1)


async def test_a_second_refusal_ends_the_turn(model: ModelServer) -> None:
    model.script([Rule(REFUSED)])
    async with live(model) as engine:
        frames = await engine.execute("look", media=[IMAGE])
    assert (len(model.calls), last(frames)["phase"]) == (2, "errored")
    assert events(frames, "error")[0]["details"]["kind"] == "refused_media"


async def test_nothing_is_stripped_when_that_is_off_or_nothing_is_there(model: ModelServer) -> None:
    model.script([Rule(REFUSED)])
    async with live(model, media_error_recovery_enabled=False) as engine:
        assert last(await engine.execute("look", media=[IMAGE]))["phase"] == "errored"
    async with live(model) as engine:
        assert last(await engine.execute("just words"))["phase"] == "errored"
    assert len(model.calls) == 2


async def test_a_request_that_is_too_large_loses_what_was_attached(model: ModelServer) -> None:
    model.enqueue(Failure(413), Reply([Text("too large")]))
    async with live(model) as engine:
        frames = await engine.execute("look", media=[IMAGE])
    assert (transitions(frames), last(frames)["phase"]) == (["media_recovery"], "completed")


async def test_an_image_of_a_tool_is_stripped_from_its_result(model: ModelServer) -> None:
    async with live(model, sandbox="off") as engine:
        command = f"echo {base64.b64encode(picture()).decode()} | base64 -d > a.png"
        model.enqueue(
            Reply([ToolCall("bash", {"command": command})]),
            Reply([ToolCall("read_file", {"path": "a.png"}, id="look")]),
            REFUSED,
            Reply([Text("I cannot see it.")]),
        )
        frames = await engine.execute("look", permission_mode="default")
        (notice,) = events(frames, "media_notice")
        assert notice["tool_call_id"] == "look"
        result = next(m for m in model.calls[-1].body["messages"] if m.get("tool_call_id") == "look")
        assert "refused to read it" in result["content"]
        assert "image_url" not in json.dumps(model.calls[-1].body)


async def test_what_was_accepted_before_stays_until_nothing_else_can_be_meant(model: ModelServer) -> None:
    model.enqueue(Reply([Text("a cat")]), REFUSED, Reply([Text("ok")]))
    async with live(model) as engine:
        await engine.execute("look", media=[IMAGE])
        frames = await engine.execute("and?")
    (notice,) = events(frames, "media_notice")
    assert "message_id" not in notice
    assert "refused to read it" in sent(model)[0]["text"]


async def test_what_was_left_out_stays_out_in_later_turns_and_after_a_restart(
    model: ModelServer, tmp_path: Path
) -> None:
    model.enqueue(Reply([Text("a cat")]), REFUSED, *(Reply([Text("ok")]) for _ in range(3)))
    brain = tmp_path / "brain.sqlite"
    async with live(model, sqlite_db_path=brain) as engine:
        await engine.execute("look", media=[IMAGE])
        assert len(events(await engine.execute("and?"), "media_notice")) == 1
        assert events(await engine.execute("so?"), "media_notice") == []
    async with live(model, sqlite_db_path=brain) as engine:
        assert events(await engine.execute("still?"), "media_notice") == []
    assert len(model.calls) == 5
    assert [sent(model, call) for call in (3, 4)] == [sent(model, 2)] * 2


async def test_files_in_an_answer_to_a_question_are_checked_too(model: ModelServer) -> None:
    model.enqueue(Reply([ToolCall("ask_user", {"question": "Which?"})]), Reply([Text("this")]))
    async with live(model, **CHECKED) as engine, engine.executing("go") as stream:
        await stream.until("hitl_request")
        bad = {"task_id": "t1", "answer": "this", "content_blocks": [attached("image", b"no", "image/png")]}
        response = await engine.http.post("/hitl/respond", json=bad)
        assert (response.status_code, response.json()["details"]["fields"][0]["field"]) == (422, "content_blocks.0")
        good = {**bad, "content_blocks": [IMAGE, attached("audio", WAV, "audio/wav")]}
        assert (await engine.http.post("/hitl/respond", json=good)).status_code == 200
        await stream.rest()
    assert "image_url" in json.dumps(model.calls[-1].body)
