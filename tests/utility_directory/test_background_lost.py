"""A command that was lost is told of once, also when an answer of the database was lost with it."""

import pytest

from aster.brain.background import BackgroundRow
from aster.brain.postgres.brain import PostgresBrain
from aster.contracts.events import TaskLifecycle
from aster.utility_directory.background_lost import tell
from aster.utility_directory.background_spool import Spool
from tests.brain.postgres.between import Between, Loss
from tests.brain.thread import KEY
from tests.postgres import server


@pytest.mark.parametrize("loss", ["commit", "answer"])
async def test_who_took_a_command_over_without_an_answer_tells_of_it(clean_url: str, loss: Loss) -> None:
    row = BackgroundRow(
        runtime_task_id="bg_1",
        turn_id="",
        tool_call_id="",
        work="bash",
        description="x",
        started_at=1,
        owner="replica-dead",
    )
    async with Between(server().port) as between:
        brain = PostgresBrain(between.url(clean_url), readers=1)
        await brain.start()
        await brain.append(KEY, None, [TaskLifecycle(phase="renamed", title="x")], rows=[row])
        (record,) = await brain.background_running()
        between.lose(loss)
        assert await tell(brain, record, Spool())
        assert between.lost == 1
        assert not await tell(brain, record, Spool())
        ended = await brain.background_task(KEY, "bg_1")
        assert ended is not None
        assert ended.status == "lost"
        assert await brain.head(KEY) == 2
        await brain.close()
