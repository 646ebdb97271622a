"""Waking a task: when an agent or a command in the background that was to do so has ended and nobody talks to the one
it worked for, a turn begins by itself.

What decides is on record: who was to wake it, that it has ended, that the model was not told. The turn begins with the
very commit that says it was told, so a crash at any moment wakes once, and a second process finds the task taken. It
has the authority of the turn that began what has ended, and no more.
"""

import logging
from collections.abc import Sequence
from typing import Protocol

from aster.brain.records import Row, ThreadKey
from aster.contracts.errors import EngineError
from aster.engine_core import channel_state
from aster.engine_core.casting import check_model
from aster.engine_core.orders import Order
from aster.engine_core.permissions import moded
from aster.engine_core.runtime.notices import marks, pending, words
from aster.engine_core.services import Services
from aster.infra.ids import new_id

log = logging.getLogger("aster.waking")

_GO_ON = "Nobody has said anything since. Go on with what depends on it, then say what came of it."


class Begins(Protocol):
    async def __call__(
        self, key: ThreadKey, turn_id: str, order: Order, tip: str | None = None, rows: Sequence[Row] = ()
    ) -> None: ...


async def wake(services: Services, begin: Begins, key: ThreadKey) -> None:
    """Begin a turn of a task that does nothing, if one was to be woken by what has ended."""
    brain = services.brain
    news = await pending(brain, key)
    waker = next((one.wakes for one in news if one.wakes is not None), None)
    thread = None if waker is None else await brain.thread(key)
    if waker is None or thread is None or thread.status != "idle" or await brain.inbox(key):
        return
    try:
        woken = await so_far(services, key, thread.tip_turn_id)
        if woken < services.settings.subagent_wakes:
            order = await order_as(services, key, waker, f"{words(news)}\n{_GO_ON}", woken + 1)
            await services.budgets.admit(key)
            await begin(key, new_id("turn"), order, thread.tip_turn_id, marks(news))
    except EngineError as error:
        log.info("the task %s is not woken: %s", key.task_id, error.message)


async def so_far(services: Services, key: ThreadKey, tip: str | None) -> int:
    """How often the task has gone on by itself since a person last said something, whatever it was woken by."""
    return 0 if tip is None else (await channel_state.load(services.brain, key, tip)).request.woken


async def order_as(services: Services, key: ThreadKey, turn_id: str, message: str, woken: int) -> Order:
    """As the turn that began what has ended was asked for. Tools that its client runs are left out: nobody is there
    to run them."""
    request = (await channel_state.load(services.brain, key, turn_id)).request
    check_model(services.settings, request.model)
    return moded(
        services.settings,
        Order(
            task_id=key.task_id,
            message=message,
            direct=True,
            super_thinking=request.super_thinking,
            model=request.model,
            permission_mode=request.permission_mode,
            unattended=request.unattended,
            instructions=request.instructions,
            own_tools=request.own_tools,
            profile=request.agent,
            woken=woken,
        ),
    )
