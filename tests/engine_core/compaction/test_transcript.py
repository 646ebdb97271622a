"""The transcript: every message once, whole, in order, at the line it is said to be; pictures beside it."""

import base64

import pytest

from aster.contracts.blocks import Base64Source, ImageBlock, TextBlock, ToolResultBlock
from aster.contracts.messages import Digest, Message
from aster.engine_core.compaction.transcript import archived
from aster.testing import RecordedCall, Reply, ToolCall
from tests.engine_core.compaction.made import calls, model, person, results, shown
from tests.engine_core.compaction.talk import filler, says
from tests.engine_core.compaction.test_orchestrator import answering, chat, chatting, small
from tests.engine_core.frames import events

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
PICTURE = ImageBlock(source=Base64Source(media_type="image/png", data=PIXEL))


def lines_of(*archives: bytes) -> list[str]:
    return b"".join(archives).decode().split("\n")


def test_each_message_is_written_once_where_it_says() -> None:
    talk = [person("one\ntwo"), calls("c"), results(("c", "three\nfour")), model("five"), person("six")]
    first = archived(talk, Digest())
    again = archived([*first.messages, model("seven"), person("eight")], first.digest)
    text = lines_of(first.contents[0].data, again.contents[0].data)
    for message in again.messages[:-1]:
        said = shown(message).split("\n")[0]
        assert text[message.archived - 1].startswith("=== message")
        assert said in text[message.archived : message.archived + 3] or not said
    assert [text.count(word) for word in ("one", "three", "six", "seven")] == [1, 1, 1, 1]
    assert again.digest.parts == (first.part, again.part)
    assert again.digest.lines == len(text) - 1
    assert not again.messages[-1].archived, "the newest is never moved"


def test_what_is_there_already_needs_no_new_part() -> None:
    first = archived([person("a"), model("b")], Digest())
    assert archived(first.messages, first.digest).contents == []


@pytest.mark.parametrize("inside", [False, True])
def test_pictures_become_artifacts_of_their_own(inside: bool) -> None:
    block = ToolResultBlock(tool_use_id="c", content=(PICTURE,)) if inside else PICTURE
    archive = archived([Message(role="user", content=(block, TextBlock(text="look"))), model("I see")], Digest())
    text, picture = archive.contents
    assert picture.data == base64.b64decode(PIXEL)
    assert (picture.artifact.media_type, picture.artifact.size) == ("image/png", len(picture.data))
    assert f"kept as artifact:{picture.artifact.id}" in text.data.decode()


async def test_a_picture_that_is_gone_can_be_looked_at_again() -> None:
    asked: list[str] = []

    def work(call: RecordedCall) -> Reply:
        if "Look again." not in call.text:
            return chatting(call)
        return Reply([ToolCall("read_file", {"path": asked[0]})]) if call.round == 0 else says("a dot")

    async with small(answering(work)) as (aster, _):
        await chat(aster, 1)
        image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}
        await aster.execute("See this. " + filler(800), media=[image])
        await chat(aster, 5, first=2)
        assert (await aster.http.post("/tasks/t1/compact", json={})).json()["status"] == "compacted"
        listed = (await aster.http.get("/tasks/t1/artifacts")).json()["artifacts"]
        (kept,) = [item for item in listed if item["media_type"] == "image/png"]
        asked.append(f"artifact:{kept['artifact_id']}")
        (result,) = events(await aster.execute("Look again."), "tool_result")
        assert [part["type"] for part in result["content"]] == ["text", "image"]
        assert result["content"][1]["source"]["data"] == PIXEL
