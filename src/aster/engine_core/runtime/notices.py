"""What happened behind the model's back, told to it before its next call: once, in the engine's words, the most urgent
first.

The message and the marks that it was told are one commit. It holds nothing that a command or an agent has said: that is
data from outside and comes with `bash_output` and `agent_output`, between its marks.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from aster.brain.agents import SubagentRecord, SubagentToldRow
from aster.brain.background import BackgroundRecord, BackgroundStallToldRow, BackgroundToldRow
from aster.brain.protocol import Brain
from aster.brain.records import Row, ThreadKey
from aster.contracts.model import decode
from aster.engine_core.orders import Order
from aster.engine_core.replaying.recorded import NOTICE
from aster.engine_core.services import Services
from aster.engine_core.telling import told
from aster.engine_core.turn import Turn
from aster.infra.clock import now_ms
from aster.infra.ids import new_id

SHOWN_CHARS: Final = 100

Priority: TypeAlias = Literal["immediate", "high", "medium", "low"]
_ORDER: Final[tuple[Priority, ...]] = ("immediate", "high", "medium", "low")
_PRIORITIES: Final[dict[str, Priority]] = {"completed": "medium", "killed": "low", "cancelled": "low"}
"""What is not as it was meant to be comes first, what somebody asked for comes last."""


@dataclass(frozen=True, slots=True)
class Notice:
    """Something to tell. A newer one with the same key stands for the older one; `rows` say that it was told.
    `wakes` is the turn whose authority the task is to go on with by itself because of it."""

    key: str
    priority: Priority
    text: str
    rows: tuple[Row, ...]
    wakes: str | None = None


async def tell(turn: Turn, services: Services) -> None:
    """Tell the model what happened without its knowing, if anything did."""
    counts = services.background.untold, services.offspring.untold
    seen = [count.get(turn.key) for count in counts]
    if seen == [None, None]:
        return
    await turn.flush()
    news = await pending(turn.brain, turn.key)
    if news:
        turn.write(told(words(news), new_id(NOTICE)), rows=marks(news))
        return
    for count, before in zip(counts, seen, strict=True):
        if before is not None and count.get(turn.key) == before:
            del count[turn.key]


async def pending(brain: Brain, key: ThreadKey) -> list[Notice]:
    """What the model of a task was not told yet, as it is to be told."""
    commands = await brain.background_untold(key)
    agents = [child for child in await brain.subagents_of(key) if child.background and child.told_at is None]
    now = now_ms()
    return arranged(
        [
            *(notice for record in commands for notice in _of_command(record, now)),
            *(_of_agent(child, now) for child in agents if child.ended_at is not None),
        ]
    )


def arranged(news: Sequence[Notice]) -> list[Notice]:
    """In the order in which they are told, one for each key: the newest, with the marks of those it stands for."""
    latest: dict[str, Notice] = {}
    for one in news:
        older = latest.pop(one.key, None)
        rows = one.rows if older is None else (*older.rows, *one.rows)
        latest[one.key] = Notice(one.key, one.priority, one.text, rows, one.wakes)
    return sorted(latest.values(), key=lambda one: _ORDER.index(one.priority))


def words(news: Sequence[Notice]) -> str:
    return "\n".join(one.text for one in news)


def marks(news: Sequence[Notice]) -> list[Row]:
    """That the model was told of these, for the commit that tells it."""
    return [row for one in news for row in one.rows]


def _of_command(record: BackgroundRecord, now: int) -> Iterator[Notice]:
    name, why = record.runtime_task_id, f"`{record.description[:SHOWN_CHARS].replace('`', chr(39))}`"
    if record.stalled_at is not None and record.stall_told_at is None:
        text = (
            f"The background command {name} ({why}) has gone silent after what looks like a question, and nobody can"
            " answer it there. bash_output shows it. End the command with bash_kill; if it is still wanted, start it"
            " again so that it does not ask (an option such as --yes, or its input from a pipe or a file)."
        )
        yield Notice(name, "immediate", text, (BackgroundStallToldRow(runtime_task_id=name, stall_told_at=now),))
    if record.ended_at is None:
        return
    if record.status == "lost":
        text = f"The background command {name} ({why}) is lost: the engine stopped while it ran."
    else:
        status = "" if record.exit_code is None else f" with exit status {record.exit_code}"
        text = f"The background command {name} ({why}) has ended: {record.status}{status}."
        text += " bash_output shows what it wrote."
    rows = (BackgroundToldRow(runtime_task_id=name, told_at=now),)
    yield Notice(name, _PRIORITIES.get(record.status, "high"), text, rows, record.turn_id if record.wake else None)


def _of_agent(child: SubagentRecord, now: int) -> Notice:
    text = (
        f"The agent {child.agent} in the background ({child.child_task_id}) has ended: {child.status}."
        " agent_output shows what it said."
    )
    rows = (SubagentToldRow(child_turn_id=child.child_turn_id, told_at=now),)
    priority = _PRIORITIES.get(child.status, "high")
    return Notice(child.child_task_id, priority, text, rows, child.turn_id if _wakes(child) else None)


def _wakes(child: SubagentRecord) -> bool:
    """Whether it was to wake the task, and ended by itself: one that was stopped wakes nobody."""
    parent = decode(child.body, Order).parent
    return parent is not None and parent.wake and child.status != "cancelled"
