"""A turn that was to begin on a thread as it was does not begin when another has come and gone meanwhile."""

import pytest

from aster.brain.protocol import Brain
from aster.brain.unit import Conflict, Idle
from tests.brain.thread import KEY, begin, end, opening, read_all


async def test_of_two_beginnings_on_the_same_look_one_holds(brain: Brain) -> None:
    await brain.append(KEY, "turn-1", opening(), guard=Idle(0))
    await end(brain)
    with pytest.raises(Conflict):
        await brain.append(KEY, "turn-2", opening(message_id="msg-2"), guard=Idle(0))
    seen = await brain.thread(KEY)
    assert seen is not None
    await brain.append(KEY, "turn-3", opening(message_id="msg-3"), guard=Idle(seen.epoch))
    await end(brain, turn_id="turn-3")
    assert {frame.turn_id for frame in await read_all(brain)} == {"turn-1", "turn-3"}


async def test_without_a_look_an_idle_thread_is_enough(brain: Brain) -> None:
    for number in (1, 2):
        await begin(brain, turn_id=f"turn-{number}", message_id=f"msg-{number}")
        await end(brain, turn_id=f"turn-{number}")
    assert len(await brain.turns(KEY)) == 2
