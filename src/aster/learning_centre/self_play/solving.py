"""The solver: an agent that is shut in with a challenge, in an empty directory, with tools for files and the shell.

It knows nothing of anybody, reaches nothing and nobody, and its turns are on a hidden thread of their own. It is
stopped at once when somebody writes a message, and what cut it off leaves nothing running.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any, Final, NamedTuple

import msgspec

from aster.brain.records import ThreadKey
from aster.contracts.agents import Parent, Profile
from aster.contracts.blocks import ToolResultBlock, ToolUseBlock
from aster.contracts.learning import LEARNING_TASK, SELF_PLAY_TASK
from aster.contracts.messages import Message
from aster.engine_core.engine import Engine
from aster.engine_core.orders import Order
from aster.infra.ids import new_id
from aster.learning_centre.self_play import checking
from aster.learning_centre.self_play.challenge import Challenge
from aster.learning_centre.workbench import Deferred
from aster.sandbox.paths import Workspace

TOOLS: Final = ("bash", "read_file", "write_file", "edit_file", "glob", "grep")
LOOKING: Final = frozenset({"read_file", "glob", "grep"})
"""Whatever these find, or do not find, is no error of whoever looks."""
AGENT: Final = "self_play"
MOST_STEPS: Final = 15
MOST_SECONDS: Final = 300.0
LOOK_SECONDS: Final = 1.0

_PROMPT: Final = """\
You solve a programming challenge on your own. You work in a directory of your own, with tools for files and a shell
without network. Nobody can be asked. Write the file that is asked for, run it to see that it does what is wanted, and
end when it does. It is checked by a program that you do not see, also with other input than the one you have."""


class Attempt(NamedTuple):
    """A turn of the solver's: where it stands, what it cost, and how many of its calls failed."""

    turn_id: str
    first_seq: int
    last_seq: int
    cost_usd: float
    tool_errors: int


class Solver:
    """Made for one challenge; `watch` raises when it has to stop. Leave it by `close`."""

    def __init__(
        self, engine: Engine, user_id: str, challenge: Challenge, watch: Callable[[], Awaitable[None]]
    ) -> None:
        self._engine = engine
        self._services = engine.services
        self._key = ThreadKey(user_id, SELF_PLAY_TASK)
        self._challenge = challenge
        self._watch = watch
        self._cell = new_id("cell")
        self._tip: str | None = None

    async def open(self) -> None:
        """Lay out the challenge."""
        cell = await self._place()
        await self._services.sandbox.files.call(checking.write, cell.cwd, dict(self._challenge.files))

    async def close(self) -> None:
        await self._services.workspaces.vacate(self._cell)

    async def attempt(self, message: str, max_usd: float) -> Attempt:
        """Let it try; returns when its turn has ended."""
        brain, coordinator, turn_id = self._services.brain, self._engine.coordinator, new_id("turn")
        thread = await brain.thread(self._key)
        if thread is not None and thread.status != "idle":
            raise Deferred("another challenge is being solved")
        head = 0 if thread is None else await brain.head(self._key)
        until = time.monotonic() + MOST_SECONDS
        with brain.subscribe(self._key, head) as subscription:
            try:
                await coordinator.begin_child(self._key, turn_id, self._order(message, turn_id, max_usd), self._tip)
                over = False
                while not over and time.monotonic() < until:
                    await self._watch()
                    for frame in await subscription.next(LOOK_SECONDS):
                        over = over or (frame.turn_id == turn_id and frame.grade == "end")
            finally:
                await asyncio.shield(coordinator.stop(self._key, "cancelled"))
        self._tip = turn_id
        return await self._came_to(turn_id)

    async def solution(self) -> str | None:
        """What it has written, if it did."""
        cell = await self._place()
        return await self._services.sandbox.files.call(checking.read, cell.cwd / self._challenge.solution)

    async def _place(self) -> Workspace:
        return await self._services.workspaces.cell(self._cell)

    def _order(self, message: str, turn_id: str, max_usd: float) -> Order:
        profile = Profile(
            name=AGENT,
            label=AGENT,
            prompt=_PROMPT,
            within=(TOOLS,),
            max_turns=MOST_STEPS,
            cell=self._cell,
            max_usd=max_usd,
        )
        parent = Parent(
            task_id=LEARNING_TASK,
            turn_id="",
            tool_call_id="",
            home_task_id=SELF_PLAY_TASK,
            root_turn_id=turn_id,
            depth=1,
            agents=(),
        )
        return Order(
            task_id=SELF_PLAY_TASK,
            message=message,
            direct=True,
            unattended=True,
            permission_mode="default",
            profile=profile,
            parent=parent,
        )

    async def _came_to(self, turn_id: str) -> Attempt:
        turn = await self._services.brain.turn(self._key.user_id, turn_id)
        if turn is None:
            raise Deferred("the engine begins nothing now")
        row = await self._services.brain.trajectory(self._key.user_id, turn_id)
        errors = 0 if row is None else failed_calls(msgspec.json.decode(row.record, type=_Recorded).messages)
        return Attempt(turn_id, turn.first_seq, turn.last_seq or turn.first_seq, turn.cost_usd, errors)


class _Recorded(msgspec.Struct):
    messages: list[Message] = []
    request: dict[str, Any] = {}


def failed_calls(messages: list[Message]) -> int:
    """How many calls failed, but for those that only look: by what they came to, never by what they say."""
    blocks = [block for message in messages for block in message.content]
    named = {block.id: block.name for block in blocks if isinstance(block, ToolUseBlock)}
    results = [block for block in blocks if isinstance(block, ToolResultBlock) and block.is_error]
    return sum(named.get(block.tool_use_id, "") not in LOOKING for block in results)
