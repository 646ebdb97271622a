"""What a door adds to a turn: the same words through `/v1/chat/completions` and through `/execute`, of one engine."""

from pathlib import Path
from statistics import median

import msgspec

from benchmarks.figures import Figure
from benchmarks.prompt import Prompt, WrongAnswer, say
from benchmarks.scale import Scale
from benchmarks.servers import Server
from benchmarks.stage import stage
from benchmarks.subjects import Turn

TOKENS = 200
CONVERSATION = 10


class _Delta(msgspec.Struct):
    content: str | None = None


class _Choice(msgspec.Struct):
    delta: _Delta
    finish_reason: str | None = None


class _Chunk(msgspec.Struct):
    choices: list[_Choice]


_chunk = msgspec.json.Decoder(_Chunk)


class ChatDoor:
    """Aster as a client of the door sees it: it keeps the conversation and sends all of it every time."""

    def __init__(self, server: Server) -> None:
        self.server = server

    async def turn(self, prompt: Prompt, messages: list[dict[str, str]]) -> Turn:
        messages.append({"role": "user", "content": prompt.text})
        turn, finish = Turn(), ""

        def take(event: bytes, at: float) -> bool:
            nonlocal finish
            if event.startswith(b"data: {"):
                for choice in _chunk.decode(event[6:]).choices:
                    finish = choice.finish_reason or finish
                    if choice.delta.content:
                        turn.pieces.append((at, choice.delta.content))
            return False

        body = msgspec.json.encode({"model": "aster", "messages": messages, "stream": True})
        answer = await self.server.client.post("/v1/chat/completions", body, take, timeout=60.0)
        turn.sent, turn.ended = answer.sent, answer.ended
        if finish != "stop":
            raise WrongAnswer(f"the answer ended with {finish!r}")
        prompt.check(turn.text)
        messages.append({"role": "assistant", "content": turn.text})
        return turn


async def over_execute(directory: Path, scale: Scale) -> list[Figure]:
    """Turns of conversations, one through the door and one not, in turn: with a model that answers at once, and with
    one that takes its time as models do."""
    figures: list[Figure] = []
    async with stage(directory) as on:
        door = ChatDoor(on.aster.server)
        await door.turn(say(TOKENS), [])
        for name, rate, delay, conversations in (
            ("model answers at once", 0.0, 0.0, scale.first_tokens),
            ("200 tokens at 200/s", 200.0, 0.1, max(1, scale.slow_turns // 3)),
        ):
            spent: dict[str, list[float]] = {"door": [], "execute": []}
            for conversation in range(conversations):
                messages: list[dict[str, str]] = []
                for _ in range(CONVERSATION if not rate else 3):
                    asked, again = say(TOKENS, rate=rate, delay=delay), say(TOKENS, rate=rate, delay=delay)
                    spent["door"].append((await door.turn(asked, messages)).seconds * 1e3)
                    spent["execute"].append((await on.aster.turn(again, f"{rate}-{conversation}")).seconds * 1e3)
            what = f"turn through a door, beside /execute, {name}"
            figures.append(Figure("doors", what, "ms", median(spent["door"]), median(spent["execute"])))
    return figures
