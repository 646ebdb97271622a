"""A recording that leaves the engine: one turn with what was before it, cleaned of secrets once more, and the way back
in, somewhere else.

What is taken out is taken out everywhere in the same way, so that a call still finds the outcome it had. Words of the
format itself and the names of tools stay as they are, and so do pictures.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, TypeAlias, cast

import msgspec

from aster import __version__
from aster.brain.records import Row, ThreadKey
from aster.brain.unit import Absent
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.events import Event, MemoryRetrieval, Phase, ThreadLifecycle, decode_event
from aster.contracts.model import decode, encode, to_builtins
from aster.contracts.replay import RECORDING_FORMAT, RECORDING_VERSION, Recording
from aster.contracts.tools import ToolDef
from aster.engine_core.replaying.comparing import answer_of
from aster.engine_core.replaying.opening import TAKEN_OVER, conversation, view_row
from aster.engine_core.replaying.recorded import Recorded, read
from aster.engine_core.replaying.replays import Replays
from aster.engine_core.services import Services
from aster.infra.secrets import REDACTED

Clean: TypeAlias = Callable[[str], str]
_FORMAT: Final = frozenset(
    {"type", "role", "phase", "origin", "effect", "block_type", "stop_reason", "reason", "status", "failure"}
    | {"action", "verdict", "source", "item", "purpose", "media_type", "store", "resolution", "permission_mode"}
    | {"hook_event", "strategy", "strategies", "trigger", "kind", "error", "format", "engine", "timestamp"}
    | {"name", "tool", "as_tool", "tools", "model", "said_at", "event_at"}
)
"""Fields whose words are part of the format, or name a tool or a model."""
_ANYTHING: Final = frozenset({"input", "as_input", "updated_input", "data", "echo"})
"""Fields in which every word may be anybody's."""
_SIGNED: Final = frozenset({"signature", "encrypted"})
"""A provider's marks on its words: of no use elsewhere."""


class Expected(NamedTuple):
    """What the replay of a recording is held against."""

    calls: list[tuple[str, dict[str, Any]]]
    answer: str


async def recording(
    services: Services, replays: Replays, user_id: str, task_id: str, turn_id: str | None
) -> Recording:
    """The recording of a turn, the newest if none is named."""
    key = ThreadKey(user_id, task_id)
    found = await replays.source(user_id, task_id, turn_id)
    thread = await services.brain.thread(key)
    kept = [event for event in found.events if _needed(event)]
    made = Recording(
        task_id=task_id,
        turn_id=found.state.turn_id,
        history=tuple(await replays.history(key, found)),
        events=tuple(to_builtins(event) for event in kept),
        views=tuple(await replays.views(user_id, kept)),
        tools=await _called(services, user_id, found),
        title="" if thread is None else thread.title,
        model=found.steps[-1].usage.model,
        engine=__version__,
    )
    return redacted(made, lambda text: services.secrets.clean(text, "engine", shapes=True))


def _needed(event: Event) -> bool:
    if isinstance(event, ThreadLifecycle):
        return event.phase is Phase.STARTED or event.phase.final
    return isinstance(event, (*TAKEN_OVER, MemoryRetrieval))


async def _called(services: Services, user_id: str, found: Recorded) -> tuple[ToolDef, ...]:
    """The tools that were called, as they are now; one that is gone is told by its name."""
    await services.connectors.look_up(user_id)
    known = {tool.name: tool for tool in services.connectors.tools(user_id).registry.definitions}
    known |= {tool.name: tool for tool in found.state.request.tools}
    names = dict.fromkeys(outcome.call.name for outcome in found.outcomes)
    bare: dict[str, Any] = {"type": "object"}
    return tuple(known.get(name) or ToolDef(name=name, description="", input_schema=bare) for name in names)


def redacted(made: Recording, clean: Clean) -> Recording:
    """The recording with its text cleaned."""
    return msgspec.convert(_walked(to_builtins(made), clean), Recording)


def without_words(words: Sequence[str]) -> Clean:
    """Takes these words out, however they are capitalised."""
    pattern = re.compile("|".join(re.escape(word) for word in sorted(words, key=len, reverse=True)), re.IGNORECASE)
    return lambda text: pattern.sub(REDACTED, text)


def _walked(value: Any, clean: Clean, *, free: bool = False) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list | tuple):
        return [_walked(item, clean, free=free) for item in cast("Sequence[Any]", value)]
    if not isinstance(value, dict):
        return value
    fields = cast("dict[str, Any]", value)
    if free:
        return {clean(name): _walked(item, clean, free=True) for name, item in fields.items()}
    if fields.get("type") == "base64":
        return fields
    return {
        name: item if _closed(name, item) else _walked(item, clean, free=name in _ANYTHING)
        for name, item in fields.items()
        if name not in _SIGNED
    }


def _closed(name: str, item: Any) -> bool:
    """Whether a field holds a word of the format; one that says something does not."""
    says = isinstance(item, str) and len(item.split()) > 1
    return name in _FORMAT and not says and not isinstance(item, dict)


def opened(data: bytes) -> Recording:
    """Read a recording; one that this version cannot play is refused."""
    try:
        made = decode(data, Recording)
    except msgspec.DecodeError as error:
        raise EngineError(ErrorCode.INVALID_REQUEST, f"This is not a recording: {error}.") from None
    if made.format != RECORDING_FORMAT or made.version > RECORDING_VERSION:
        message = f"This recording is {made.format} {made.version}; this version plays {RECORDING_VERSION}."
        raise EngineError(ErrorCode.INVALID_REQUEST, message)
    return made


def turn_of(made: Recording) -> Recorded:
    """The recorded turn."""
    return read(made.turn_id, [decode_event(encode(event)) for event in made.events])


def expected(found: Recorded) -> Expected:
    """The calls of a turn, in order, and its answer."""
    calls = [(block.name, block.input) for step in found.steps for _, block in step.calls]
    return Expected(calls, answer_of(found))


async def take_in(services: Services, user_id: str, made: Recording) -> None:
    """Put a recording onto a thread of its own, as the turn that it was."""
    key, before = ThreadKey(user_id, made.task_id), conversation(made.history)
    missing = [tool for tool in made.tools if services.tools.registry.get(tool.name) is None]
    events: list[Event] = []
    for data in made.events:
        event = decode_event(encode(data))
        if isinstance(event, ThreadLifecycle) and event.request is not None:
            event = _started(event, None if before is None else before.turn_id, missing)
        events.append(msgspec.structs.replace(event, task_id="", seq=0, turn_id=made.turn_id))
    rows: list[Row] = [view_row(view, view.compaction_id, made.turn_id) for view in made.views]
    if before is not None:
        events, rows = [*before.events, *events], [*before.rows, *rows]
    await services.brain.append(key, made.turn_id, events, rows=rows, guard=Absent())


def _started(event: ThreadLifecycle, follows: str | None, missing: Sequence[ToolDef]) -> ThreadLifecycle:
    """The beginning of the turn, after the conversation that came with it; its model is offered what it called."""
    request = {**(event.request or {}), "model": None}
    known = {tool["name"] for tool in request.get("tools", ())}
    offered = [to_builtins(tool) for tool in missing if tool.name not in known]
    request["tools"] = [*request.get("tools", ()), *offered]
    return msgspec.structs.replace(event, request=request, follows_turn_id=follows, follows_messages=None)
