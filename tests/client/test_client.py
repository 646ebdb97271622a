"""Every route through the SDK, against a real engine."""

import asyncio
from contextlib import aclosing

import pytest

from aster.client import AsterClient, EngineUnreachable, Transcript
from aster.contracts.agents import Agent
from aster.contracts.blocks import TextBlock
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.events import HitlRequest, Phase, TextDelta, ThreadLifecycle, UserMessage
from aster.infra.ids import new_id
from aster.testing import ModelServer
from tests.live import Live
from tests.process import free_port

ASK = '[[tools=1 tool=ask_user input={"question":"Which colour?"} text=3]]'


async def run(client: AsterClient, message: str, task: str) -> Transcript:
    transcript = Transcript()
    async for event in client.execute(message, task):
        transcript.apply(event)
    return transcript


async def test_execute_hands_on_a_whole_turn(client: AsterClient, task: str) -> None:
    events = [event async for event in client.execute("[[text=20]]", task)]
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert {event.task_id for event in events} == {task}
    first, last = events[0], events[-1]
    assert isinstance(first, ThreadLifecycle)
    assert first.phase is Phase.STARTED
    assert isinstance(last, ThreadLifecycle)
    assert last.phase is Phase.COMPLETED
    assert Transcript().extend(events).text().split() == [f"w{number:06}" for number in range(1, 21)]


async def test_media_goes_with_the_message(client: AsterClient, task: str) -> None:
    media = [TextBlock(text="an attachment")]
    events = [event async for event in client.execute("[[text=1]]", task, media=media)]
    (message,) = [event for event in events if isinstance(event, UserMessage)]
    assert message.content[0] == media[0]


async def test_a_second_turn_begins_where_the_first_ended(client: AsterClient, task: str) -> None:
    first = [event async for event in client.execute("[[text=2]]", task)]
    second = [event async for event in client.execute("[[text=2]]", task)]
    assert second[0].seq == first[-1].seq + 1
    assert [event.seq async for event in client.replay(task)] == [event.seq for event in [*first, *second]]
    assert [event async for event in client.thread(task)] == [*first, *second]


async def test_pages_can_be_filtered(client: AsterClient, task: str) -> None:
    await run(client, "[[text=30]]", task)
    page = await client.events(task, types=["user_message"])
    assert [type(event) for event in page.events] == [UserMessage]
    some = await client.events(task, limit=2)
    assert (len(some.events), some.next_after_seq) == (2, 2)
    assert some.head_seq == page.head_seq


async def test_a_question_is_answered(client: AsterClient, task: str) -> None:
    transcript = Transcript()
    async for event in client.execute(ASK, task):
        transcript.apply(event)
        if isinstance(event, HitlRequest):
            (waiting,) = await client.pending(task)
            assert (waiting.request_id, waiting.question) == (event.request_id, "Which colour?")
        if transcript.phase is Phase.SUSPENDED and transcript.pending:
            (request_id,) = transcript.pending
            answered = await client.respond("blue", request_id=request_id, feedback="like the sea")
            assert (answered.status, answered.request_id) == ("resumed", request_id)
    assert "blue" in transcript.cards[0].output
    assert transcript.phase is Phase.COMPLETED
    with pytest.raises(EngineError) as refused:
        await client.respond("red", task_id=task)
    assert refused.value.code is ErrorCode.HITL_NOT_PENDING


async def test_cancel_ends_the_turn_and_keeps_its_text(client: AsterClient, model: ModelServer, task: str) -> None:
    transcript = Transcript()
    async for event in client.execute(f"[[text=10 hold={task} at=5]]", task):
        transcript.apply(event)
        if isinstance(event, TextDelta) and "w000005" in transcript.text():
            asyncio.get_running_loop().create_task(client.cancel(task))
    assert transcript.phase is Phase.CANCELLED
    assert transcript.text().split()[0] == "w000001"
    model.release(task)
    with pytest.raises(EngineError) as refused:
        await client.cancel(task)
    assert refused.value.code is ErrorCode.TASK_NOT_RUNNING


async def test_tasks_are_listed_shown_forked_and_deleted(client: AsterClient, task: str) -> None:
    await run(client, f"[[text=2 id={task}]]", task)
    page = await client.tasks(search=task)
    assert [found.task_id for found in page.tasks] == [task]
    detail = await client.task(task)
    assert (detail.status, len(detail.turns), detail.turns[0].status) == ("idle", 1, "completed")
    made = await client.fork(task, detail.head_seq, f"{task}-copy")
    assert (made.task_id, made.from_task_id) == (f"{task}-copy", task)
    assert (await client.delete(task)).task_id == task
    with pytest.raises(EngineError) as refused:
        await client.task(task)
    assert refused.value.code is ErrorCode.TASK_NOT_FOUND


async def test_health_needs_no_key(engine: Live) -> None:
    async with AsterClient(engine.url, "wrong") as client:
        assert (await client.health()).status in ("ok", "degraded")


async def test_a_refusal_keeps_its_code(client: AsterClient, task: str) -> None:
    with pytest.raises(EngineError) as refused:
        await run(client, "   ", task)
    assert refused.value.code is ErrorCode.INVALID_REQUEST
    assert refused.value.details is not None


async def test_a_busy_task_is_refused_queued_or_steered(client: AsterClient, model: ModelServer, task: str) -> None:
    first = client.execute(f"[[text=4 hold={task} at=2]]", task)
    async with aclosing(first):
        async for event in first:
            if isinstance(event, TextDelta):
                break
        with pytest.raises(EngineError) as refused:
            await run(client, "[[text=1]]", task)
        assert refused.value.code is ErrorCode.TASK_BUSY
        queued = client.execute("[[text=7]]", task, on_busy="queue")
        async with aclosing(queued):
            transcript = Transcript().extend([await anext(queued)])
            model.release(task)
            async for event in queued:
                transcript.apply(event)
    assert transcript.text(transcript.turn_id).split()[-1] == "w000007"
    assert transcript.phase is Phase.COMPLETED


async def test_a_queued_message_that_is_dropped_ends_its_stream(
    client: AsterClient, model: ModelServer, task: str
) -> None:
    running = client.execute(f"[[text=4 hold={task} at=2]]", task)
    async with aclosing(running):
        async for event in running:
            if isinstance(event, TextDelta):
                break
        queued = client.execute("[[text=7]]", task, on_busy="queue")
        seen = [await anext(queued)]
        assert (await client.cancel(task, clear_inbox=True)).dropped_messages == 1
        seen += [event async for event in queued]
    assert not any(isinstance(event, UserMessage) for event in seen)
    model.release(task)


async def test_an_engine_that_never_answered_is_reported_at_once() -> None:
    async with AsterClient(f"http://127.0.0.1:{free_port()}") as client:
        for call in (client.health(), run(client, "hello", new_id("task"))):
            with pytest.raises(EngineUnreachable) as refused:
                await call
            assert not refused.value.sent
            assert "127.0.0.1" in refused.value.message


async def test_something_that_is_no_engine_is_told_apart(model: ModelServer) -> None:
    async with AsterClient(model.url) as client:
        with pytest.raises(EngineError) as refused:
            await client.task("any")
        assert refused.value.code is ErrorCode.INTERNAL
        assert "404" in refused.value.message


async def test_plans_and_uncertainties(client: AsterClient, task: str) -> None:
    plan = '{"goal":"A fix","steps":[{"id":"s1","text":"Read"}]}'
    await run(client, f"[[tools=1 tool=update_plan input={plan} text=1]]", task)
    found = await client.plan(task)
    assert found is not None
    assert (found.goal, [step.text for step in found.steps]) == ("A fix", ["Read"])
    assert await client.uncertainties(task) == ()
    doubt = '{"kind":"unknown","text":"Which?"}'
    transcript = await run(client, f"[[tools=1 tool=flag_uncertainty input={doubt} text=1]]", task)
    (noted,) = await client.uncertainties(task, unresolved=True)
    assert (noted.text, noted.item_id) == ("Which?", next(iter(transcript.doubts)))


async def test_a_task_is_watched_through_its_turns(client: AsterClient, task: str) -> None:
    first = [event async for event in client.execute("[[text=2]]", task)]
    watching = client.watch(task, first[-1].seq)
    async with aclosing(watching):
        coming = asyncio.create_task(anext(watching))
        for _ in range(2):
            turn = [event async for event in client.execute("[[text=2]]", task)]
            seen = [await coming if turn[0].seq == first[-1].seq + 1 else await anext(watching)]
            while seen[-1].seq < turn[-1].seq:
                seen.append(await anext(watching))
            assert seen == turn
    with pytest.raises(EngineError) as refused:
        await anext(client.watch(new_id("task")))
    assert refused.value.code is ErrorCode.TASK_NOT_FOUND


async def test_a_message_that_is_dropped_has_no_answer(client: AsterClient, model: ModelServer, task: str) -> None:
    running = client.execute(f"[[text=4 hold={task} at=2]]", task)
    async with aclosing(running):
        async for event in running:
            if isinstance(event, TextDelta):
                break
        asking = asyncio.create_task(client.ask("[[text=7]]", task, on_busy="queue"))
        while not (await client.task(task)).inbox:
            await asyncio.sleep(0.01)
        await client.cancel(task, clear_inbox=True)
        with pytest.raises(EngineError, match="dropped"):
            await asking
    model.release(task)


async def test_a_task_is_renamed_and_its_turn_is_read_as_a_record(client: AsterClient, task: str) -> None:
    assert (await client.ask("[[text=3]]", task)).split() == ["w000001", "w000002", "w000003"]
    assert (await client.rename(task, "Three words")).title == "Three words"
    (turn,) = (await client.task(task)).turns
    record = await client.trajectory(task, turn.turn_id)
    assert "w000003" in str(record)
    assert await client.recurring_uncertainties() is not None


async def test_agents_of_ones_own(client: AsterClient, task: str) -> None:
    agent = Agent(name="clerk", description="Counts", system_prompt="You count.", tools=("read_file",))
    kept = await client.agents.put(agent)
    assert (kept.name, kept.source, kept.tools) == ("clerk", "user", ("read_file",))
    assert "clerk" in [one.name for one in await client.agents.list()]
    await client.ask("[[text=1]]", task, agent="clerk", instructions="Be brief.")
    assert (await client.task(task)).turns[0].agent == "clerk"
    await client.agents.delete("clerk")
    assert "clerk" not in [one.name for one in await client.agents.list()]


async def test_what_the_engine_runs_with(client: AsterClient) -> None:
    assert (await client.about()).operator
    assert "read_file" in [tool.definition.name for tool in await client.tools()]
    assert "# HELP" in await client.metrics()
    assert (await client.reload_catalog()).status == "reloaded"


async def test_the_environment_names_the_engine(engine: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENGINE_URL", engine.url)
    async with AsterClient() as client:
        assert (client.url, (await client.health()).status) == (engine.url, "ok")
    monkeypatch.delenv("ENGINE_URL")
    assert AsterClient().url == "http://127.0.0.1:8000"
