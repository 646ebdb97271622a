"""What tests say to the chat door, and what they read of its streams."""

import json
from typing import Any

from tests.live import Live

PATH = "/v1/chat/completions"
WEATHER: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "The weather in a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


async def ask(engine: Live, messages: list[dict[str, Any]], **body: Any) -> dict[str, Any]:
    """A completion, with the task it is on as `task`."""
    answer = await engine.http.post(PATH, json={"model": "aster", "messages": messages, **body})
    assert answer.status_code == 200, answer.text
    return {**answer.json(), "task": answer.headers["X-Task-ID"], "turn": answer.headers["X-Turn-ID"]}


async def chunks(engine: Live, messages: list[dict[str, Any]], **body: Any) -> list[dict[str, Any]]:
    """The chunks of a streamed completion; it ends with `[DONE]`."""
    said = {"model": "aster", "messages": messages, "stream": True, **body}
    answer = await engine.http.post(PATH, json=said)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("text/event-stream")
    frames = [frame for frame in answer.text.split("\n\n") if frame and not frame.startswith(":")]
    assert frames[-1] == "data: [DONE]"
    return [json.loads(frame.removeprefix("data: ")) for frame in frames[:-1]]


def message_of(completion: dict[str, Any]) -> dict[str, Any]:
    return completion["choices"][0]["message"]


def text_of(parts: list[dict[str, Any]]) -> str:
    return "".join(part["choices"][0]["delta"].get("content") or "" for part in parts if part["choices"])


async def turns(engine: Live, task_id: str) -> list[dict[str, Any]]:
    """What people and the model said in a task, in order, from its events."""
    frames = await engine.replay(task_id=task_id)
    said: list[dict[str, Any]] = []
    for frame in frames:
        if frame.event == "user_message":
            said.append(user("".join(block.get("text", "") for block in frame.data["content"])))
        elif frame.event == "content_block_stop" and frame.data["block_type"] == "text":
            said.append({"role": "assistant", "content": frame.data["block"]["text"]})
    return said
