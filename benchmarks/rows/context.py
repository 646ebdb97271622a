"""What a prompt costs to put together: a long task as it is after a restart, and its next call, one message later.

Both come with the count of their tokens and the manifest of their blocks. Beside each stands a task a quarter as long:
a ratio of four is a cost that grows with what is sent.
"""

from pathlib import Path
from statistics import median
from time import thread_time

from aster.brain.records import ThreadKey
from aster.contracts.blocks import TextBlock, ToolResultBlock, ToolUseBlock
from aster.contracts.messages import Message
from aster.contracts.model import decode, encode
from aster.contracts.turn import TurnState
from aster.engine_core.assemble import assemble
from aster.engine_core.context.manifest import Parts, entries_of
from aster.engine_core.context.tokens import request_tokens
from aster.engine_core.engine import Engine
from aster.engine_core.services import Services
from aster.engine_core.turn import Turn
from aster.infra.settings import Settings
from benchmarks.figures import Figure
from benchmarks.scale import Scale

LONG, SHORT = 200, 50
SPEECH = "What a person says in one turn of a long conversation is about as long as this short paragraph. "
RESULT = "def total(items):\n    return sum(item.price * item.count for item in items if item.count > 0)\n\n"


async def assembled(directory: Path, scale: Scale) -> list[Figure]:
    """Turns of about five hundred tokens each, every one with a call of a tool."""
    engine = Engine(Settings.model_validate({"llm_provider": "demo", "sqlite_db_path": directory / "brain.sqlite"}))
    await engine.start()
    try:
        services = engine.coordinator._services  # noqa: SLF001 - nobody else has a use for them
        cold, warm = (
            {at: _milliseconds(services, at, next_call, scale) for at in (LONG, SHORT)} for next_call in (0, 1)
        )
        thousands = round(request_tokens(assemble(_turn(services, LONG), services)) / 1000)
    finally:
        await engine.stop()
    what = f"of turn {LONG} ({thousands}k tokens), beside turn {SHORT}"
    return [
        Figure("context", f"first prompt after a restart {what}", "ms", cold[LONG], cold[SHORT]),
        Figure("context", f"next prompt {what}", "ms", warm[LONG], warm[SHORT]),
    ]


def _milliseconds(services: Services, turns: int, next_call: int, scale: Scale) -> float:
    """CPU time of a prompt of this many turns, of which the call before was seen or not."""
    taken: list[float] = []
    for _ in range(scale.parsed_streams):
        turn = _turn(services, turns)
        for _ in range(next_call):
            _put_together(turn, services)
            turn.state.messages += [_said("assistant", "And then?"), _said("user", SPEECH)]
        began = thread_time()
        _put_together(turn, services)
        taken.append((thread_time() - began) * 1e3)
    return median(taken)


def _put_together(turn: Turn, services: Services) -> int:
    request = assemble(turn, services)
    entries_of(Parts(turn.layers, request, len(turn.state.messages), turn.state.follows_turn_id))
    return request_tokens(request)


def _turn(services: Services, turns: int) -> Turn:
    """The last of so many turns; its history has just been read."""
    history = [message for number in range(turns - 1) for message in _exchange(number)]
    state = TurnState(turn_id="turn", messages=[_said("user", SPEECH)])
    return Turn(
        key=ThreadKey("user", "task"),
        brain=services.brain,
        state=state,
        history=decode(encode(history), list[Message]),
        secrets=services.secrets,
    )


def _exchange(number: int) -> list[Message]:
    call = ToolUseBlock(id=f"call-{number}", name="read_file", input={"path": f"src/module_{number}.py"})
    result = ToolResultBlock(tool_use_id=call.id, content=(TextBlock(text=RESULT * 10),))
    return [
        Message(
            role="user", content=(TextBlock(text=SPEECH * 4),), id=f"msg-{number}", said_at="2026-11-15T12:00+00:00"
        ),
        Message(role="assistant", content=(TextBlock(text="I will look."), call)),
        Message(role="user", content=(result,)),
        _said("assistant", SPEECH * 4),
    ]


def _said(role: str, text: str) -> Message:
    return Message(role="user" if role == "user" else "assistant", content=(TextBlock(text=text),))
