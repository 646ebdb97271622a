"""The goal of a task in a brain: what the events say, and nothing that came too late."""

from aster.brain.protocol import Brain
from aster.brain.records import ThreadKey
from aster.contracts.events import GoalStatus, TaskLifecycle

KEY = ThreadKey("ada", "t1")


async def say(brain: Brain, status: str, goal_id: str = "g1", **more: object) -> None:
    event = GoalStatus(goal="Reach it.", goal_id=goal_id, status=status, **more)  # type: ignore[arg-type]
    await brain.append(KEY, None, [event])


async def test_it_is_what_the_thread_says(brain: Brain) -> None:
    await brain.append(KEY, None, [TaskLifecycle(phase="renamed", title="A task")])
    assert await brain.goals.of(KEY) is None
    await say(brain, "active")
    goal = await brain.goals.of(KEY)
    assert goal is not None
    assert (goal.goal, goal.status, goal.outcome, goal.reason, goal.blocks) == (
        "Reach it.",
        "active",
        "active",
        None,
        0,
    )
    await say(brain, "blocked", reason="not yet", blocks=2)
    goal = await brain.goals.of(KEY)
    assert goal is not None
    assert (goal.status, goal.outcome, goal.reason, goal.blocks) == ("active", "blocked", "not yet", 2)
    await say(brain, "achieved", reason="there")
    goal = await brain.goals.of(KEY)
    assert goal is not None
    assert (goal.status, goal.outcome) == ("achieved", "achieved")
    assert await brain.goals.of(ThreadKey("bob", "t1")) is None


async def test_a_judgement_about_another_goal_or_a_settled_one_changes_nothing(brain: Brain) -> None:
    await say(brain, "active")
    await say(brain, "active", "g2")
    await say(brain, "achieved", "g1")
    await say(brain, "cleared", "g1")
    goal = await brain.goals.of(KEY)
    assert goal is not None
    assert (goal.goal_id, goal.status) == ("g2", "active")
    await say(brain, "failed", "g2", reason="never")
    await say(brain, "achieved", "g2")
    goal = await brain.goals.of(KEY)
    assert goal is not None
    assert (goal.status, goal.reason) == ("failed", "never")
    await say(brain, "cleared", "g2")
    assert await brain.goals.of(KEY) is None


async def test_it_goes_with_its_task(brain: Brain) -> None:
    await say(brain, "active")
    await brain.delete_thread(KEY)
    assert await brain.goals.of(KEY) is None
