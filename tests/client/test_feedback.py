"""Feedback through the SDK."""

from aster.client import AsterClient


async def test_a_turn_is_rated_and_the_rating_taken_back(client: AsterClient, task: str) -> None:
    turn_id = ""
    async for event in client.execute("[[text=5]]", task):
        turn_id = event.turn_id or turn_id
    said = await client.feedback.give(turn_id=turn_id, rating="up", text="Well done")
    assert (said.target, said.target_id, said.rating, said.task_id) == ("turn", turn_id, 1.0, task)
    assert (await client.feedback.list(task_id=task)).signals == (said,)
    assert (await client.feedback.take_back(said.signal_id)).status == "deleted"
    assert (await client.feedback.list(task_id=task)).signals == ()
