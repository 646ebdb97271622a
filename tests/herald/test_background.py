"""Who stands back behind whom, for how long, and that nothing stays taken."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from aster.herald.background import MOST_AT_ONCE, PATIENCE, Background
from aster.herald.failure import HeraldError
from aster.testing import Failure, Hold, ModelServer, Reply, Text
from tests.herald.asking import asking
from tests.herald.test_pool import nodes, pools, said


class Work:
    """Something done in the background, which goes on until it is told to end."""

    def __init__(self, background: Background) -> None:
        self.began = asyncio.Event()
        self.end = asyncio.Event()
        self.task = asyncio.create_task(self._work(background))

    async def _work(self, background: Background) -> None:
        async with background.place():
            self.began.set()
            await self.end.wait()

    async def done(self) -> None:
        self.end.set()
        await asyncio.wait_for(self.task, 5)


@asynccontextmanager
async def working(background: Background, count: int) -> AsyncIterator[list[Work]]:
    works = [Work(background) for _ in range(count)]
    try:
        yield works
    finally:
        for work in works:
            work.task.cancel()
        await asyncio.gather(*(work.task for work in works), return_exceptions=True)


async def turn_of_the_loop() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


def test_the_numbers_are_those_of_the_specification() -> None:
    assert (MOST_AT_ONCE, PATIENCE) == (3, 30.0)


async def test_in_silence_it_begins_at_once() -> None:
    background = Background()
    async with background.place():
        assert (background.running, background.waiting) == (1, 0)
    assert background.running == 0
    assert background.waited_seconds < 1


async def test_it_waits_for_the_last_of_those_who_are_answered() -> None:
    background = Background()
    background.foreground_began()
    async with working(background, 1) as (work,):
        await turn_of_the_loop()
        background.foreground_began()
        background.foreground_ended()
        await turn_of_the_loop()
        assert (work.began.is_set(), background.waiting, background.running) == (False, 1, 0)
        background.foreground_ended()
        await asyncio.wait_for(work.began.wait(), 5)
        assert (background.waiting, background.running) == (0, 1)
        await work.done()


async def test_one_who_comes_first_in_the_same_moment_is_let_pass() -> None:
    background = Background()
    background.foreground_began()
    async with working(background, 1) as (work,):
        await turn_of_the_loop()
        background.foreground_ended()
        background.foreground_began()
        await turn_of_the_loop()
        assert not work.began.is_set()


async def test_its_patience_has_an_end() -> None:
    background = Background(patience=0.02)
    background.foreground_began()
    async with working(background, 1) as (work,):
        await asyncio.wait_for(work.began.wait(), 5)
        assert background.waited_seconds >= 0.019
        await work.done()


async def test_only_so_many_at_once() -> None:
    background = Background()
    async with working(background, 5) as works:
        await turn_of_the_loop()
        assert [work.began.is_set() for work in works] == [True, True, True, False, False]
        assert (background.running, background.waiting) == (3, 2)
        await works[1].done()
        await asyncio.wait_for(works[3].began.wait(), 5)
        assert not works[4].began.is_set()


async def test_who_is_cancelled_leaves_nothing_taken() -> None:
    background = Background(most=1)
    background.foreground_began()
    async with working(background, 3) as (standing, queueing, last):
        await turn_of_the_loop()
        for work in (standing, queueing):
            work.task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await work.task
        assert background.waiting == 1
        background.foreground_ended()
        await asyncio.wait_for(last.began.wait(), 5)
        last.task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await last.task
        assert (background.running, background.waiting) == (0, 0)
        async with background.place():
            pass


async def test_a_call_counts_from_before_it_is_sent_until_it_is_left(server: ModelServer) -> None:
    async with pools(llm_pool_foreground=nodes((server, "m"))) as made:
        server.enqueue(Reply([Text("one"), Hold()]), Reply([Text("behind")]))
        answering = asyncio.create_task(said(made))
        await server.wait_held()

        async def behind() -> str:
            async with made.background.place():
                return await said(made, background=True)

        later = asyncio.create_task(behind())
        await turn_of_the_loop()
        assert (made.background.waiting, len(server.calls)) == (1, 1)
        server.release()
        assert [await answering, await later] == ["one", "behind"]


async def test_a_call_that_fails_or_is_never_sent_holds_nobody_up(server: ModelServer) -> None:
    async with pools(llm_pool_foreground=nodes((server, "m"))) as made:
        server.enqueue(*[Failure(500)] * 3)
        for _ in range(4):
            with pytest.raises(HeraldError):
                await said(made)
        assert len(server.calls) == 3
        async with asyncio.timeout(5), made.background.place():
            pass


async def test_a_call_that_is_given_up_holds_nobody_up(server: ModelServer) -> None:
    async with pools(llm_pool_foreground=nodes((server, "m"))) as made:
        server.enqueue(Reply([Text("one"), Hold()]), Reply([Hold()], first_byte_delay=60))
        for held in (True, False):
            call = asyncio.create_task(said(made))
            await (server.wait_held() if held else server.wait_calls(2))
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
        async with asyncio.timeout(5), made.background.place():
            pass


async def test_nobody_slips_in_without_a_place(server: ModelServer) -> None:
    async with pools(llm_pool_foreground=nodes((server, "m"))) as made:
        with pytest.raises(AssertionError, match="place"):
            await made.complete(asking("Hi", background=True))
    assert server.calls == []
