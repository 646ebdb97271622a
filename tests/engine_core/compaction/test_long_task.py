"""A task of five hundred turns in a small window: it never overflows, keeps its promises, and stays cheap.

The model server counts and caches prompts the way the provider documents it, refuses what does not fit, and refuses
any conversation in which a call has lost its result.
"""

import random
from pathlib import Path
from typing import Any

from msgspec import json

from aster.testing import Failure, ModelServer, RecordedCall, Reply, Text, ToolCall
from tests.engine_core.compaction.talk import filler
from tests.engine_core.frames import events
from tests.live import live

TURNS = 500
WINDOW = 32_768
RULE = "Standing rule for everything that follows: amounts are always in Swiss francs, never in dollars."
OPENING, TAIL = 3, 47
"""What an engine has to keep in full at the least: the opening and the newest messages."""


def tokens(value: Any) -> int:
    return len(json.encode(value)) // 4


def answer(call: RecordedCall) -> Reply | Failure:
    """Reads the file of the turn, then answers."""
    if tokens(call.body) > WINDOW - call.body["max_tokens"]:
        return Failure(kind="context_overflow")
    if call.round == 0:
        number = call.text.rpartition("turn ")[2].split(":")[0]
        return Reply([ToolCall("read_file", {"path": f"part-{int(number) % 20}.txt"})])
    return Reply([Text(f"It says what was expected, see {call.round}. " + filler(300, len(call.body["messages"])))])


def seen_of(call: RecordedCall) -> list[dict[str, Any]]:
    return [message for message in call.body["messages"] if message["role"] != "system"]


def write_files(root: Path) -> None:
    for number in range(20):
        (root / f"part-{number}.txt").write_text(filler(random.Random(number).randint(400, 3000), number))


async def test_five_hundred_turns_in_a_small_window(tmp_path: Path) -> None:
    async with (
        ModelServer([answer], prompt_cache=True) as model,
        live(
            model,
            llm_provider="anthropic",
            llm_base_url=model.url,
            llm_model="claude-haiku-4-5",
            context_window=WINDOW,
            memory_enabled=False,
            allowed_roots=str(tmp_path),
        ) as aster,
    ):
        write_files(tmp_path)
        said: list[dict[str, Any]] = []
        compactions: list[dict[str, Any]] = []
        for number in range(TURNS):
            frames = await aster.execute(f"{RULE if number == 0 else ''}turn {number}: look into the next part.")
            assert frames[-1].data["stop_reason"] == "end_turn", events(frames, "error")
            said += events(frames, "usage")
            compactions += events(frames, "compaction_event")
        calls = model.calls
        assert len(calls) == 2 * TURNS, "no call was refused, none was made for a summary"
        assert compactions
        assert all(event.get("ok", True) for event in compactions)
        last = json.encode(calls[-1].body).decode()
        assert RULE in last
        assert "artifact:transcript" in last
        prompt = sum(used["input_tokens"] for used in said)
        read = sum(used.get("cache_hit_tokens", 0) for used in said)
        assert prompt <= 1.3 * ideal(calls)
        assert read >= 0.85 * prompt


def ideal(calls: list[RecordedCall]) -> int:
    """The tokens of an engine that knows what is needed and pays nothing for forgetting the rest.

    At every call it sends the instructions and tools, the opening of the conversation, and the newest messages up to
    the number that has to stay, each in full and nothing else: no digest, no placeholders. What was said is taken
    from the calls themselves: the newest messages of each are in it in full.
    """
    frame = tokens(calls[0].body) - tokens(seen_of(calls[0]))
    conversation: list[int] = []
    total = 0
    for call in calls:
        new = seen_of(call)[-2:] if conversation else seen_of(call)
        conversation += [tokens(message) for message in new]
        opening, rest = conversation[:OPENING], conversation[OPENING:]
        total += frame + sum(opening) + sum(rest[-TAIL:])
    return total
