"""Secrets through the whole engine: in no stream, no byte of the brain, no log and no prompt, whoever says them."""

import asyncio
import base64
import io
import json
import logging
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from aster.infra.logging import configure
from aster.testing import Failure, Hold, ModelServer, Reply, Text, Thinking, ToolCall
from tests.engine_core.frames import blocks, events, last
from tests.live import Live, live, text_of

LLM_KEY = "test-provider-key-93f1c07b"
AWS_KEY = "AKIAQX4BIPW3AHOVGN7Q"
LEAK = f"""\
AWS_ACCESS_KEY_ID={AWS_KEY}
LLM_API_KEY={LLM_KEY}
encoded: {base64.b64encode(LLM_KEY.encode()).decode()}
harmless: 4b825dc642cb6eb9a060e54bf8d69288fbee4904
"""
CLEAN = """\
AWS_ACCESS_KEY_ID=[redacted: aws access key]
LLM_API_KEY=[redacted: LLM_API_KEY]
encoded: [redacted: LLM_API_KEY]"""


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    stream = io.StringIO()
    configure("DEBUG", "json", stream)
    yield stream
    root.handlers[:] = handlers
    root.setLevel(level)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A directory the tools see, with a file that should not be there."""
    directory = tmp_path / "files"
    directory.mkdir()
    (directory / "leak.env").write_text(LEAK)
    return directory


@pytest.fixture
async def aster(model: ModelServer, tmp_path: Path, place: Path) -> AsyncIterator[Live]:
    async with live(
        model, llm_api_key=LLM_KEY, allowed_roots=str(place), sqlite_db_path=tmp_path / "brain" / "b.sqlite"
    ) as engine:
        yield engine


def on_disk(tmp_path: Path) -> bytes:
    """Every byte the brain has written, its write-ahead log too."""
    return b"".join(file.read_bytes() for file in sorted((tmp_path / "brain").iterdir()) if file.is_file())


def asked(model: ModelServer) -> str:
    return json.dumps([call.body for call in model.calls])


async def test_what_a_tool_says_is_cleaned_everywhere(
    aster: Live, model: ModelServer, tmp_path: Path, log: io.StringIO
) -> None:
    model.enqueue(
        Reply(
            [
                ToolCall("read_file", {"path": "leak.env"}),
                ToolCall("bash", {"command": "cat leak.env; cat leak.env >&2"}),
            ]
        ),
        Reply([Text("That is not mine to know.")]),
    )
    frames = await aster.execute("look")
    assert last(frames)["phase"] == "completed"
    shown = b"".join(frame.raw for frame in frames).decode()
    page = (await aster.http.get("/tasks/t1/events")).text
    for text in (shown, page, asked(model), log.getvalue(), on_disk(tmp_path).decode("utf-8", "replace")):
        assert AWS_KEY not in text
        assert LLM_KEY not in text
        assert base64.b64encode(LLM_KEY.encode()).decode()[:-4] not in text
    read, ran = events(frames, "tool_result")
    assert CLEAN in read["output"]
    assert "4b825dc642cb6eb9a060e54bf8d69288fbee4904" in read["output"]
    assert CLEAN in ran["output"]
    progress = "".join(data["text"] for data in events(frames, "tool_progress"))
    assert progress.count("[redacted: LLM_API_KEY]") == 4
    assert "[redacted: aws access key]" in json.dumps(model.calls[-1].body)
    metrics = (await aster.http.get("/metrics")).text
    assert 'aster_secrets_redacted_total{kind="aws access key",where="tool"}' in metrics
    assert 'aster_secrets_redacted_total{kind="known",where="tool"}' in metrics


async def test_a_large_output_is_clean_in_its_artifact_too(
    aster: Live, model: ModelServer, tmp_path: Path, place: Path
) -> None:
    (place / "large.env").write_text(LEAK * 2000)
    model.enqueue(Reply([ToolCall("bash", {"command": "cat large.env"})]), Reply([Text("Long.")]))
    frames = await aster.execute("look")
    (result,) = events(frames, "tool_result")
    (artifact,) = result["artifacts"]
    kept = (await aster.http.get(f"/tasks/t1/artifacts/{artifact['id']}")).text
    assert kept.count("[redacted: aws access key]") == 2000
    for text in (
        kept,
        b"".join(frame.raw for frame in frames).decode(),
        on_disk(tmp_path).decode("utf-8", "replace"),
    ):
        assert AWS_KEY not in text
        assert LLM_KEY not in text


@pytest.mark.parametrize("chunk", [1, 5, "all"])
async def test_what_the_model_says_is_cleaned_across_deltas(
    aster: Live, model: ModelServer, tmp_path: Path, chunk: int
) -> None:
    model.enqueue(
        Reply(
            [
                Thinking(f"The key is {LLM_KEY}."),
                Text(f"I know {LLM_KEY}, and a token of yours: ghp_16C7e42F292c6912E7710c838347Ae178B4a"),
            ],
            chunk=chunk,
        )
    )
    frames = await aster.execute("go")
    (block,) = blocks(frames)
    assert block["text"] == (
        "I know [redacted: LLM_API_KEY], and a token of yours: ghp_16C7e42F292c6912E7710c838347Ae178B4a"
    )
    assert text_of(frames).removeprefix("I know ").removeprefix("tes") == block["text"].removeprefix("I know ")
    assert LLM_KEY[3:] not in b"".join(frame.raw for frame in frames).decode()
    assert LLM_KEY.encode() not in on_disk(tmp_path)
    assert "signature" not in json.dumps(blocks(frames, "thinking"))


async def test_a_tool_gets_its_input_as_it_is_recorded(aster: Live, model: ModelServer, place: Path) -> None:
    token = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
    write = ToolCall("write_file", {"path": "out.txt", "content": f"{token} {LLM_KEY}"})
    model.enqueue(Reply([write]), Reply([Text("done")]))
    frames = await aster.execute(f"put {token} into out.txt")
    assert (place / "out.txt").read_text() == f"{token} [redacted: LLM_API_KEY]"
    assert events(frames, "tool_call")[0]["input"]["content"] == f"{token} [redacted: LLM_API_KEY]"
    assert token in events(frames, "user_message")[0]["content"][0]["text"]


async def test_no_door_lets_a_known_value_in(aster: Live, model: ModelServer, tmp_path: Path) -> None:
    question = ToolCall("ask_user", {"question": f"Is it {LLM_KEY}?"})
    model.enqueue(
        Reply([Text("one "), Hold("gate"), Text("two")]),
        Reply([Text("steered")]),
        Reply([question]),
        Reply([Text("thanks")]),
    )
    async with aster.executing(f"use {LLM_KEY}") as stream:
        await stream.until("text_delta")
        sent = [
            asyncio.create_task(aster.execute(f"{mode} {LLM_KEY}", on_busy=mode)) for mode in ("steer", "queue")
        ]
        while len(waiting := (await aster.http.get("/tasks/t1")).json()["inbox"]) < 2:
            await asyncio.sleep(0.01)
        assert {row["message"].split()[1] for row in waiting} == {"[redacted:"}
        model.release("gate")
        await stream.rest()
        while not (await aster.http.get("/hitl/pending")).json()["pending"]:
            await asyncio.sleep(0.01)
        reply = {"task_id": "t1", "answer": f"yes {LLM_KEY}", "feedback": f"or {LLM_KEY}"}
        await aster.http.post("/hitl/respond", json=reply)
        renamed = await aster.http.patch("/tasks/t1", json={"title": f"about {LLM_KEY}"})
        await asyncio.gather(*sent)
    assert renamed.json()["title"] == "about [redacted: LLM_API_KEY]"
    assert LLM_KEY not in (await aster.http.get("/tasks/t1/events")).text
    assert LLM_KEY.encode() not in on_disk(tmp_path)
    assert LLM_KEY not in asked(model)
    assert asked(model).count("[redacted: LLM_API_KEY]") > 5


async def test_what_a_provider_says_about_the_key_is_cleaned(
    aster: Live, model: ModelServer, tmp_path: Path, log: io.StringIO
) -> None:
    model.enqueue(Failure(status=401, message=f"Incorrect API key provided: {LLM_KEY}"))
    frames = await aster.execute("go")
    assert last(frames)["phase"] == "errored"
    assert "Incorrect API key provided: [" in events(frames, "error")[0]["message"]
    assert LLM_KEY not in b"".join(frame.raw for frame in frames).decode()
    assert LLM_KEY not in log.getvalue()
    assert LLM_KEY.encode() not in on_disk(tmp_path)


async def test_patterns_can_be_switched_off_and_known_values_cannot(
    model: ModelServer, tmp_path: Path, place: Path
) -> None:
    model.enqueue(Reply([ToolCall("read_file", {"path": "leak.env"})]), Reply([Text("ok")]))
    async with live(model, llm_api_key=LLM_KEY, allowed_roots=str(place), secret_patterns="off") as engine:
        frames = await engine.execute("look")
    output = events(frames, "tool_result")[0]["output"]
    assert AWS_KEY in output
    assert LLM_KEY not in output
