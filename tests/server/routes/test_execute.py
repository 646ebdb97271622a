"""Turns over HTTP: run, follow, leave, come back, stop."""

import asyncio

import pytest

from aster.infra.clock import now_ms
from aster.testing import Hold, ModelServer, Reply, Text, ToolCall
from tests.live import Live, Seen, Stream, live, text_of

LONG = " ".join(f"word{number}" for number in range(400))


def ask(question: str = "Which one?") -> Reply:
    return Reply([ToolCall("ask_user", {"question": question})])


def held(name: str, before: str = "first ", after: str = "second") -> Reply:
    """An answer that stops in the middle until the test lets it go on."""
    return Reply([Text(before), Hold(name), Text(after)])


def ids(frames: list[Seen]) -> list[int]:
    return [frame.id for frame in frames if frame.id is not None]


def phases(frames: list[Seen]) -> list[str]:
    return [frame.data["phase"] for frame in frames if frame.event == "thread_lifecycle"]


async def refusal(stream: Stream) -> tuple[int, str]:
    return stream.response.status_code, stream.response.json()["error"]


class TestExecute:
    async def test_a_turn_streams_from_its_start_to_its_end(
        self, engine: Live, model: ModelServer, task: str
    ) -> None:
        model.enqueue(Reply([Text("Hello, world")]))
        async with engine.executing("hi", task) as stream:
            frames = await stream.rest()
        headers = stream.headers
        assert headers["content-type"].startswith("text/event-stream")
        assert (headers["cache-control"], headers["x-accel-buffering"]) == ("no-cache", "no")
        assert headers["x-task-id"] == task
        assert text_of(frames) == "Hello, world"
        assert ids(frames) == list(range(1, len(frames) + 1))
        assert phases(frames) == ["started", "completed"]
        assert {frame.data["turn_id"] for frame in frames} == {headers["x-turn-id"]}
        assert all(frame.data["seq"] == frame.id and frame.data["type"] == frame.event for frame in frames)
        (said,) = [frame for frame in frames if frame.event == "user_message"]
        assert said.data["message_id"] == headers["x-message-id"]

    async def test_the_request_id_is_in_the_answer(self, engine: Live, model: ModelServer, task: str) -> None:
        model.enqueue(Reply([Text("ok")]))
        body = {"message": "hi", "task_id": task}
        async with engine.stream("POST", "/execute", json=body, headers={"X-Request-ID": "mine"}) as stream:
            await stream.rest()
        assert stream.headers["x-request-id"] == "mine"

    async def test_unknown_fields_are_named_and_otherwise_ignored(
        self, engine: Live, model: ModelServer, task: str
    ) -> None:
        model.enqueue(Reply([Text("ok")]))
        async with engine.executing("hi", task, context={"files": []}, mood="good") as stream:
            assert phases(await stream.rest()) == ["started", "completed"]
        assert stream.headers["x-aster-warning"] == "unknown fields ignored: context, mood"

    @pytest.mark.parametrize("name", ["spaces and / slashes?&#%", "Ünï🌟"])
    async def test_a_task_goes_by_any_name(self, engine: Live, model: ModelServer, name: str) -> None:
        model.enqueue(Reply([Text("ok")]))
        async with engine.executing("hi", name) as stream:
            await stream.rest()
        assert (await engine.http.get(f"/tasks/{quoted(name)}")).json()["task_id"] == name
        assert (await engine.http.get(f"/tasks/{quoted(name)}/events")).json()["head_seq"] == len(stream.seen)
        assert (await engine.http.delete(f"/tasks/{quoted(name)}")).json() == {"status": "deleted", "task_id": name}

    async def test_a_busy_task_is_refused(self, engine: Live, model: ModelServer, task: str) -> None:
        model.enqueue(held(task))
        async with engine.executing("hi", task) as first:
            await first.until("text_delta")
            async with engine.executing("again", task) as second:
                assert await refusal(second) == (409, "TASK_BUSY")
                assert second.headers["retry-after"] == "1"
            model.release(task)
            await first.rest()

    async def test_a_suspended_task_asks_for_the_answer_first(
        self, engine: Live, model: ModelServer, task: str
    ) -> None:
        model.enqueue(ask())
        async with engine.executing("hi", task) as first:
            asked = await first.until("hitl_request")
            await first.until("thread_lifecycle", phase="suspended")
            while engine.engine.coordinator.slots[0]:
                await asyncio.sleep(0.002)
            async with engine.executing("again", task) as second:
                assert await refusal(second) == (409, "HITL_REQUIRED")
                assert second.response.json()["details"]["request_id"] == asked.data["request_id"]
            await engine.http.post("/execute/cancel", json={"task_id": task})

    async def test_the_stream_stays_open_while_a_human_is_asked(
        self, engine: Live, model: ModelServer, task: str
    ) -> None:
        model.enqueue(ask(), Reply([Text("As you like")]))
        async with engine.executing("hi", task) as stream:
            asked = await stream.until("hitl_request")
            answer = {"request_id": asked.data["request_id"], "answer": "blue"}
            assert (await engine.http.post("/hitl/respond", json=answer)).json()["status"] == "resumed"
            assert phases(await stream.rest()) == ["started", "suspended", "resumed", "completed"]
        assert text_of(stream.seen) == "As you like"

    async def test_too_many_turns_are_refused_and_told_when_to_come_back(
        self, model: ModelServer, task: str
    ) -> None:
        async with live(model, task_slots=1) as engine:
            model.enqueue(held(task))
            async with engine.executing("hi", "a") as first:
                await first.until("text_delta")
                async with engine.executing("hi", "b") as second:
                    assert await refusal(second) == (503, "SLOTS_EXHAUSTED")
                    assert second.response.json()["retry"] == "after"
                    assert second.headers["retry-after"] == "1"
                model.release(task)
                await first.rest()

    async def test_an_edit_of_an_unknown_message_is_refused(self, engine: Live, task: str) -> None:
        async with engine.executing("hi", task, edit_message_id="msg-unknown") as stream:
            assert (await refusal(stream))[0] == 404

    async def test_silence_is_filled_with_heartbeats(self, model: ModelServer, task: str) -> None:
        async with live(model, heartbeat_seconds=0.05) as engine:
            model.enqueue(held(task))
            async with engine.executing("hi", task) as stream:
                before = await stream.until("text_delta")
                beat = await stream.until("heartbeat")
                again = await stream.until("heartbeat")
                model.release(task)
                await stream.rest()
        assert beat.id is None
        assert b"id:" not in beat.raw
        assert (beat.data["seq"], again.data["seq"]) == (before.id, before.id)
        assert (beat.data["task_id"], beat.data["turn_id"]) == (task, before.data["turn_id"])


class TestOnBusy:
    async def test_a_queued_message_streams_until_its_own_turn_has_ended(
        self, engine: Live, model: ModelServer, task: str
    ) -> None:
        model.enqueue(held(task), Reply([Text("the second answer")]))
        async with engine.executing("one", task) as first:
            await first.until("text_delta")
            async with engine.executing("two", task, on_busy="queue") as second:
                await second.until("task_lifecycle", phase="queued")
                model.release(task)
                await second.rest()
            await first.rest()
        assert phases(first.seen) == ["started", "completed"]
        assert phases(second.seen) == ["completed", "started", "completed"]
        assert "the second answer" in text_of(second.seen)
        assert second.seen[-1].data["turn_id"] == second.headers["x-turn-id"]

    async def test_a_steering_message_ends_with_the_turn_that_took_it(
        self, engine: Live, model: ModelServer, task: str
    ) -> None:
        model.enqueue(held(task), Reply([Text("steered")]))
        async with engine.executing("one", task) as first:
            await first.until("text_delta")
            async with engine.executing("two", task, on_busy="steer") as second:
                await second.until("task_lifecycle", phase="queued")
                model.release(task)
                await second.rest()
            await first.rest()
        assert second.seen[-1].raw == first.seen[-1].raw
        assert text_of(first.seen).endswith("steered")

    async def test_an_interrupting_message_takes_over(self, engine: Live, model: ModelServer, task: str) -> None:
        model.enqueue(held(task), Reply([Text("instead")]))
        async with engine.executing("one", task) as first:
            await first.until("text_delta")
            async with engine.executing("two", task, on_busy="interrupt") as second:
                await second.rest()
            await first.rest()
        assert phases(first.seen) == ["started", "cancelled"]
        assert phases(second.seen)[-2:] == ["started", "completed"]
        model.release(task)

    async def test_a_dropped_message_ends_its_stream(self, engine: Live, model: ModelServer, task: str) -> None:
        model.enqueue(held(task))
        async with engine.executing("one", task) as first:
            await first.until("text_delta")
            async with engine.executing("two", task, on_busy="queue") as second:
                await second.until("task_lifecycle", phase="queued")
                stop = await engine.http.post("/execute/cancel", json={"task_id": task, "clear_inbox": True})
                assert stop.json()["dropped_messages"] == 1
                await second.rest()
            await first.rest()
        assert second.seen[-1].data["phase"] == "dequeued"
        assert phases(first.seen) == ["started", "cancelled"]
        model.release(task)


class TestCancel:
    async def test_a_running_turn_ends_and_keeps_what_was_said(
        self, engine: Live, model: ModelServer, task: str
    ) -> None:
        model.enqueue(held(task))
        async with engine.executing("hi", task) as stream:
            await stream.until("text_delta")
            answer = await engine.http.post("/execute/cancel", json={"task_id": task, "why": "bored"})
            await stream.rest()
        expected = {"task_id": task, "turn_id": stream.headers["x-turn-id"], "status": "cancelled"}
        assert answer.json() == {**expected, "dropped_messages": 0}
        assert answer.headers["x-aster-warning"] == "unknown fields ignored: why"
        assert phases(stream.seen) == ["started", "cancelled"]
        model.release(task)

    async def test_nothing_runs(self, engine: Live, model: ModelServer, task: str) -> None:
        model.enqueue(Reply([Text("ok")]))
        await engine.execute("hi", task)
        answer = await engine.http.post("/execute/cancel", json={"task_id": task})
        assert (answer.status_code, answer.json()["error"]) == (409, "TASK_NOT_RUNNING")

    async def test_no_such_task(self, engine: Live, task: str) -> None:
        answer = await engine.http.post("/execute/cancel", json={"task_id": task})
        assert (answer.status_code, answer.json()["error"]) == (404, "TASK_NOT_FOUND")


class TestReplay:
    async def test_what_was_streamed_can_be_read_again_byte_by_byte(
        self, engine: Live, model: ModelServer, task: str
    ) -> None:
        model.enqueue(Reply([Text(LONG)], rate=0))
        streamed = await engine.execute("hi", task)
        assert raw(await engine.replay(task_id=task)) == raw(streamed)

    async def test_from_any_place(self, engine: Live, model: ModelServer, task: str) -> None:
        model.enqueue(Reply([Text("some words")]))
        streamed = await engine.execute("hi", task)
        for place in (1, 3, len(streamed)):
            assert raw(await engine.replay(task_id=task, after_seq=place)) == raw(streamed[place:])
            header = {"Last-Event-ID": str(place)}
            assert raw(await engine.replay(task_id=task, headers=header)) == raw(streamed[place:])
            assert raw(await engine.replay(task_id=task, after_seq=1, headers=header)) == raw(streamed[place:])

    async def test_after_a_point_in_time(self, engine: Live, model: ModelServer, task: str) -> None:
        model.enqueue(Reply([Text("before")]), Reply([Text("after")]))
        await engine.execute("one", task)
        between = await pause()
        second = await engine.execute("two", task)
        assert raw(await engine.replay(task_id=task, after=between)) == raw(second)
        assert raw(await engine.replay(task_id=task, after=await pause())) == []

    async def test_of_all_tasks_after_a_point_in_time(self, engine: Live, model: ModelServer, task: str) -> None:
        model.enqueue(*[Reply([Text(word)]) for word in ("before", "one", "two")])
        await engine.execute("hi", task)
        between = await pause()
        first = await engine.execute("hi", task)
        second = await engine.execute("hi", f"{task}-b")
        replayed = await engine.replay(after=between)
        by_task = {name: [f for f in replayed if f.data["task_id"] == name] for name in (task, f"{task}-b")}
        assert raw(by_task[task]) == raw(first)
        assert raw(by_task[f"{task}-b"]) == raw(second)
        assert len(replayed) == len(first) + len(second)

    async def test_two_clients_see_the_same_bytes(self, engine: Live, model: ModelServer, task: str) -> None:
        model.enqueue(held(task, LONG[:1500], LONG[1500:]))
        async with engine.executing("hi", task) as first:
            await first.until("text_delta")
            async with engine.replaying(task_id=task) as second:
                await second.until("text_delta")
                model.release(task)
                await asyncio.gather(first.rest(), second.rest())
        assert raw(first.seen) == raw(second.seen)
        assert phases(second.seen) == ["started", "completed"]

    async def test_a_client_that_leaves_fifty_times_misses_nothing(
        self, engine: Live, model: ModelServer, task: str
    ) -> None:
        model.enqueue(Reply([Text(LONG)], rate=250))
        seen: list[Seen] = []
        async with engine.executing("hi", task) as stream:
            seen.append(await stream.until("thread_lifecycle"))
        for _ in range(50):
            async with engine.replaying(task_id=task, after_seq=seen[-1].id) as stream:
                frame = await stream.next()
                if frame is not None:
                    seen.append(frame)
        rest = await engine.replay(task_id=task, after_seq=seen[-1].id)
        assert phases(seen + rest)[-1] == "completed"
        assert ids(seen + rest) == list(range(1, len(seen + rest) + 1))
        assert raw(seen + rest) == raw(await engine.replay(task_id=task))
        assert text_of(seen + rest) == LONG

    async def test_a_turn_does_not_notice_that_nobody_listens(
        self, engine: Live, model: ModelServer, task: str
    ) -> None:
        model.enqueue(held(task))
        async with engine.executing("hi", task) as stream:
            await stream.until("text_delta")
        while engine.engine.brain.fanout.subscribers:
            await asyncio.sleep(0.01)
        model.release(task)
        replayed = await engine.replay(task_id=task)
        assert phases(replayed) == ["started", "completed"]
        assert text_of(replayed) == "first second"

    @pytest.mark.parametrize(
        ("query", "field"),
        [
            ({}, "task_id"),
            ({"after_seq": "1"}, "task_id"),
            ({"task_id": "TASK", "after_seq": "-1"}, "after_seq"),
            ({"task_id": "TASK", "after_seq": "x"}, "after_seq"),
            ({"task_id": "TASK", "after_seq": "1000"}, "after_seq"),
            ({"task_id": "TASK", "after_seq": str(10**30)}, "after_seq"),
            ({"task_id": "a\nb"}, "task_id"),
            ({"after": "yesterday"}, "after"),
        ],
    )
    async def test_a_place_that_makes_no_sense_is_refused(
        self, engine: Live, model: ModelServer, task: str, query: dict[str, str], field: str
    ) -> None:
        model.enqueue(Reply([Text("ok")]))
        await engine.execute("hi", task)
        params = {name: task if value == "TASK" else value for name, value in query.items()}
        answer = await engine.http.get("/execute/replay", params=params)
        assert (answer.status_code, answer.json()["error"]) == (422, "INVALID_REQUEST")
        assert answer.json()["details"]["fields"][0]["field"] == field

    async def test_no_such_task(self, engine: Live, task: str) -> None:
        answer = await engine.http.get("/execute/replay", params={"task_id": task})
        assert (answer.status_code, answer.json()["error"]) == (404, "TASK_NOT_FOUND")

    async def test_a_client_that_does_not_read_holds_up_nobody(
        self, engine: Live, model: ModelServer, task: str
    ) -> None:
        model.enqueue(Reply([Text("x" * 3_000_000)], chunk=30_000))
        _, writer = await asyncio.open_connection("127.0.0.1", int(engine.url.rsplit(":", 1)[1]), limit=1024)
        body = b'{"message":"hi","task_id":"%s"}' % task.encode()
        head = f"POST /execute HTTP/1.1\r\nHost: x\r\nX-Engine-Key: {engine.http.headers['x-engine-key']}\r\n"
        writer.write(
            head.encode() + b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body
        )
        await model.wait_calls(len(model.calls) + 1)
        while (await engine.http.get(f"/tasks/{task}")).json().get("status") != "idle":
            await asyncio.sleep(0.02)
        assert len(text_of(await engine.replay(task_id=task))) == 3_000_000
        writer.transport.abort()


def raw(frames: list[Seen]) -> list[bytes]:
    return [frame.raw for frame in frames]


def quoted(name: str) -> str:
    return "".join(f"%{byte:02X}" for byte in name.encode())


async def pause() -> int:
    """A point in time that is after everything so far and before everything that follows."""
    await asyncio.sleep(0.003)
    at = now_ms()
    await asyncio.sleep(0.003)
    return at
