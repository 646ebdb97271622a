"""What a task is called, and that a title is only replaced by who has seen the one before."""

from pathlib import Path

import pytest

from aster.brain.records import ThreadKey
from aster.brain.sqlite.brain import SqliteBrain
from aster.brain.titles import TITLE_CHARS, first_words
from aster.brain.unit import Conflict, Titled
from aster.contracts.blocks import TextBlock
from aster.contracts.events import Phase, TaskLifecycle, ThreadLifecycle, UserMessage

KEY = ThreadKey("ann", "t1")
OPENING = (
    ThreadLifecycle(phase=Phase.STARTED),
    UserMessage(message_id="msg_1", content=(TextBlock(text="Hello\n there"),)),
)


def named(title: str) -> list[TaskLifecycle]:
    return [TaskLifecycle(phase="renamed", title=title)]


def test_first_words_are_one_line_and_bounded() -> None:
    assert first_words((TextBlock(text=" a\n\tb  c "),)) == "a b c"
    assert first_words(()) == ""
    assert len(first_words((TextBlock(text="word " * 100),))) == TITLE_CHARS


@pytest.mark.parametrize("restarted", [False, True], ids=["as it runs", "after a restart"])
async def test_a_title_is_replaced_only_while_it_stands(tmp_path: Path, restarted: bool) -> None:
    brain = SqliteBrain(tmp_path / "brain.sqlite")
    await brain.start()
    await brain.append(KEY, "turn_1", OPENING)
    if restarted:
        await brain.close()
        brain = SqliteBrain(tmp_path / "brain.sqlite")
        await brain.start()
    try:
        with pytest.raises(Conflict):
            await brain.append(KEY, None, named("no"), guard=Titled("something else"))
        await brain.append(KEY, None, named("A greeting"), guard=Titled("Hello there"))
        with pytest.raises(Conflict):
            await brain.append(KEY, None, named("too late"), guard=Titled("Hello there"))
        thread = await brain.thread(KEY)
        assert thread is not None
        assert thread.title == "A greeting"
    finally:
        await brain.close()


async def test_a_task_that_is_gone_is_not_called_back(tmp_path: Path) -> None:
    brain = SqliteBrain(tmp_path / "brain.sqlite")
    await brain.start()
    try:
        await brain.append(KEY, "turn_1", [*OPENING, ThreadLifecycle(phase=Phase.COMPLETED)])
        await brain.delete_thread(KEY)
        for title in ("Hello there", ""):
            with pytest.raises(Conflict):
                await brain.append(KEY, None, named("A greeting"), guard=Titled(title))
        assert await brain.thread(KEY) is None
    finally:
        await brain.close()
