"""Who is alive: a place is lost with the connection, held by one at a time, and not kept by one that hangs."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import psycopg
import pytest

from aster.contracts.errors import EngineError, ErrorCode
from aster.engine_core.cluster.membership import Membership
from aster.engine_core.cluster.sweep import Lasting
from tests.cluster.replicas import soon


@asynccontextmanager
async def member(url: str, name: str, silence: float = 10.0, *, alone: bool = False) -> AsyncIterator[Membership]:
    membership = Membership(url, name, silence, alone=alone)
    await membership.join()
    try:
        yield membership
    finally:
        await membership.leave()


async def test_one_leads_and_another_does_when_it_has_gone(database_url: str) -> None:
    async with member(database_url, "b") as b:
        async with member(database_url, "a") as a:
            assert await a.beat()
            assert await a.beat()
            assert not await b.beat()
            assert not await a.beat(may_lead=False)
            assert not await a.beat(may_lead=False)
            assert await b.beat()
            assert not await a.beat()
            assert not a.leads
        assert not a.held
        assert await b.beat()
        assert b.leads


async def test_all_that_are_alive_are_listed_with_the_one_that_leads(database_url: str) -> None:
    async with member(database_url, "a") as a:
        async with member(database_url, "b") as b:
            assert await b.beat()
            found = await a.alive()
            assert [(name, leads) for name, _, leads in found] == [("a", False), ("b", True)]
            assert found[0][1] <= found[1][1]

        async def alone() -> bool:
            return [name for name, _, _ in await a.alive()] == ["a"]

        await soon(alone)


async def test_the_dead_are_known_and_buried_by_one(database_url: str) -> None:
    async with member(database_url, "a") as a, member(database_url, "b") as b:
        async with member(database_url, "c"):
            assert await a.dead({"a", "b", "c", "never"}) == {"never"}
            async with a.grave("c") as held:
                assert not held

        async def known() -> bool:
            return await a.dead({"b", "c"}) == {"c"}

        await soon(known)
        async with a.grave("c") as held, b.grave("c") as second:
            assert (held, second) == (True, False)
        async with b.grave("c") as again:
            assert again


async def test_one_that_hangs_is_cut_off_and_may_join_again(database_url: str) -> None:
    async with member(database_url, "a", 0.2) as a, member(database_url, "b", 0.2) as b:
        assert await b.beat()
        await asyncio.sleep(0.3)
        await a.look_for_silent()
        with pytest.raises(psycopg.OperationalError):
            await b.beat()
        assert not b.held
        assert await a.dead({"b"}) == {"b"}
        assert await a.beat()
        await b.join()
        assert b.held
        assert not await b.beat()
        assert await a.dead({"b"}) == set()


async def test_a_place_that_a_lost_connection_holds_is_waited_for_without_hanging(database_url: str) -> None:
    lost = Membership(database_url, "a", 0.3)
    await lost.join()
    again = Membership(database_url, "a", 0.3)
    with pytest.raises(psycopg.OperationalError, match="still held"):
        await asyncio.wait_for(again.join(), 5)
    await asyncio.sleep(0.4)
    await again.join()
    assert again.held
    await again.leave()
    await lost.leave()


async def test_one_that_is_alone_has_no_company(database_url: str) -> None:
    async with member(database_url, "a", alone=True):
        for other in (Membership(database_url, "b", 10), Membership(database_url, "c", 10, alone=True)):
            with pytest.raises(EngineError) as refused:
                await other.join()
            assert refused.value.code is ErrorCode.CONFIGURATION_INVALID
            assert not other.held
    async with member(database_url, "b"), member(database_url, "c"):
        with pytest.raises(EngineError, match="RUNNER=dbos"):
            await Membership(database_url, "a", 10, alone=True).join()


def test_only_what_lasts_counts() -> None:
    missing = Lasting[str](0.5)
    assert missing.of(["a"], 1.0) == set()
    assert missing.of(["a", "b"], 1.4) == set()
    assert missing.of(["a", "b"], 1.5) == {"a"}
    assert missing.of(["b"], 1.9) == {"b"}
    assert missing.of(["a"], 2.0) == set()
