"""Runs of workflows in a brain: one call at a time is at a run, and only as long as everything is as it was."""

import asyncio
from hashlib import sha256

import pytest
from msgspec.structs import replace

from aster.brain.protocol import Brain
from aster.brain.records import ThreadKey
from aster.brain.unit import Idle
from aster.brain.workflows import Take, WorkflowCall, WorkflowRunRow, sealed
from aster.contracts.errors import EngineError
from aster.contracts.events import Phase, TaskLifecycle, ThreadLifecycle, WorkflowUpdate

KEY = ThreadKey("ada", "t1")
ARGS = b'{"x":1}'
TAKE = Take(
    user_id="ada",
    task_id="t1",
    turn_id="turn-1",
    holder="turn-1:1:call",
    run_id="run-1",
    workflow="review",
    args=ARGS,
    args_digest=sha256(ARGS).hexdigest(),
)
CALL = WorkflowCall(
    run_id="run-1",
    call_key="k1",
    label="one",
    phase="",
    status="completed",
    attempt=1,
    child_task_id="agent-1",
    child_turn_id="turn-2",
    result=b'"said"',
    problem="",
    cost_usd=0.5,
    tokens=7,
    digest="",
    created_at=1,
    ended_at=2,
)
END = WorkflowRunRow(
    run_id="run-1",
    status="completed",
    phase="",
    agents=1,
    cached=0,
    cost_usd=0.5,
    tokens=7,
    result=b'"all"',
    problem="",
    updated_at=3,
    ended_at=3,
)
OTHER = replace(TAKE, holder="turn-9:1:call", turn_id="turn-9", resume=True)


async def take(brain: Brain, order: Take) -> list[str]:
    written = await brain.append(
        ThreadKey(order.user_id, order.task_id), None, (), deed=brain.workflows.take(order)
    )
    return [event.action for event in written if isinstance(event, WorkflowUpdate)]


async def refused(brain: Brain, order: Take) -> str:
    with pytest.raises(EngineError) as caught:
        await take(brain, order)
    return str((caught.value.details or {}).get("reason", caught.value.code))


async def running(brain: Brain) -> None:
    """A turn that is at its run, which has one call."""
    await brain.append(KEY, "turn-1", [ThreadLifecycle(phase=Phase.STARTED)], guard=Idle())
    assert await take(brain, TAKE) == ["started"]
    row = replace(CALL, digest=sealed(CALL))
    update = WorkflowUpdate(run_id="run-1", workflow="review", action="agent_completed")
    await brain.append(KEY, "turn-1", [update], rows=[row])


async def over(brain: Brain) -> None:
    ended = ThreadLifecycle(phase=Phase.COMPLETED, stop_reason="called")
    await brain.append(KEY, "turn-1", [ended], rows=[END])


async def test_one_call_is_at_a_run_and_comes_back_to_it(brain: Brain) -> None:
    await running(brain)
    assert await refused(brain, OTHER) == "running"
    assert await take(brain, TAKE) == ["resumed"]
    run = await brain.workflows.run("ada", "run-1")
    assert run is not None
    assert (run.status, run.holder, run.attempts, run.args) == ("running", TAKE.holder, 2, ARGS)
    [call] = await brain.workflows.calls("ada", "run-1")
    assert (call.status, call.result, call.cost_usd, call.tokens) == ("completed", b'"said"', 0.5, 7)
    await over(brain)
    assert await take(brain, OTHER) == ["resumed"]
    [listed] = await brain.workflows.runs("ada", limit=5, task_id="t1")
    assert (listed.holder, listed.status, listed.result) == (OTHER.holder, "interrupted", b'"all"')


async def test_of_two_that_want_it_one_gets_it(brain: Brain) -> None:
    await running(brain)
    await over(brain)
    await brain.append(KEY, "turn-9", [ThreadLifecycle(phase=Phase.STARTED)], guard=Idle())
    many = [replace(OTHER, holder=f"turn-9:1:call-{number}") for number in range(8)]
    got = await asyncio.gather(*(take(brain, order) for order in many), return_exceptions=True)
    assert sum(not isinstance(one, BaseException) for one in got) == 1


async def test_nobody_goes_on_with_what_is_not_the_same(brain: Brain) -> None:
    await running(brain)
    await over(brain)
    assert await refused(brain, replace(OTHER, args_digest="0")) == "other_args"
    assert await refused(brain, replace(OTHER, workflow="other")) == "other_workflow"
    assert await refused(brain, replace(OTHER, run_id="run-2")) == "NOT_FOUND"
    for key in (ThreadKey("ada", "t2"), ThreadKey("bob", "t1")):
        await brain.append(key, None, [TaskLifecycle(phase="renamed", title="Another")])
    assert await refused(brain, replace(OTHER, task_id="t2")) == "other_task"
    assert await refused(brain, replace(OTHER, user_id="bob")) == "NOT_FOUND"
    assert await brain.workflows.run("bob", "run-1") is None
    assert await brain.workflows.calls("bob", "run-1") == []
    assert not await brain.workflows.ask_to_stop("bob", "run-1")


@pytest.mark.parametrize("changed", [{"result": b'"more"'}, {"status": "failed"}, {"child_task_id": "agent-9"}])
async def test_a_journal_that_was_tampered_with_is_not_gone_on_with(
    brain: Brain, changed: dict[str, object]
) -> None:
    await running(brain)
    await over(brain)
    await brain.append(KEY, None, [], rows=[replace(CALL, digest=sealed(CALL), **changed)])
    assert await refused(brain, OTHER) == "damaged"
    run = await brain.workflows.run("ada", "run-1")
    assert run is not None
    assert (run.status, run.attempts) == ("completed", 1)


async def test_it_is_asked_to_stop_only_while_somebody_is_at_it(brain: Brain) -> None:
    await running(brain)
    assert await brain.workflows.ask_to_stop("ada", "run-1")
    await take(brain, TAKE)
    run = await brain.workflows.run("ada", "run-1")
    assert run is not None
    assert run.cancelling
    await over(brain)
    assert not await brain.workflows.ask_to_stop("ada", "run-1")
    await take(brain, OTHER)
    run = await brain.workflows.run("ada", "run-1")
    assert run is not None
    assert not run.cancelling


async def test_it_goes_with_its_task(brain: Brain) -> None:
    await running(brain)
    await over(brain)
    await brain.delete_thread(KEY)
    assert await brain.workflows.runs("ada", limit=5) == []
    assert await brain.workflows.calls("ada", "run-1") == []
