"""Turns that change hands: freed of an owner that is gone, and counted by how many they have cost."""

import pytest

from aster.brain.protocol import Brain
from aster.brain.records import TurnRecord
from aster.brain.unit import Conflict, Owned
from aster.contracts.events import Phase, ThreadLifecycle, Usage
from tests.brain.thread import KEY, begin, delta, end


async def turn(brain: Brain) -> TurnRecord:
    found = await brain.turn("ada", "turn-1")
    assert found is not None
    return found


async def test_one_that_will_not_come_back_is_freed_of_its_turn_once(brain: Brain) -> None:
    await begin(brain)
    record = await turn(brain)
    assert brain.held(KEY) == record.epoch
    await brain.release(KEY, "turn-1", record.epoch)
    assert brain.held(KEY) is None
    assert (await turn(brain)).owner is None
    for late in (brain.release(KEY, "turn-1", record.epoch), brain.take(KEY, "turn-1", record.epoch)):
        with pytest.raises(Conflict):
            await late
    with pytest.raises(Conflict):
        await brain.append(KEY, "turn-1", [delta("too late")], guard=Owned("turn-1"))
    await brain.take(KEY, "turn-1", record.epoch + 1)
    assert brain.held(KEY) == record.epoch + 2
    await end(brain)
    assert brain.held(KEY) is None
    assert await brain.running_by() == {}


async def test_crashes_are_forgotten_when_the_turn_gets_on(brain: Brain) -> None:
    await begin(brain)
    await brain.count_crash("ada", "turn-1")
    cut_off = Usage(
        step=1, message_id="m1", model="m", stop_reason="restart", input_tokens=5, output_tokens=1, estimated=True
    )
    await brain.append(KEY, "turn-1", [cut_off], guard=Owned("turn-1"))
    assert (await turn(brain)).crashes == 1
    answered = Usage(step=1, message_id="m2", model="m", stop_reason="end_turn", input_tokens=5, output_tokens=9)
    await brain.append(KEY, "turn-1", [answered], guard=Owned("turn-1"))
    assert (await turn(brain)).crashes == 0
    await brain.count_crash("ada", "turn-1")
    await brain.append(KEY, "turn-1", [ThreadLifecycle(phase=Phase.SUSPENDED)], guard=Owned("turn-1"))
    assert (await turn(brain)).crashes == 0
