"""Who answers a call: the node that was asked for, the next in turn, the spare pool, or nobody, at once."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest

from aster.brain.records import QuotaRow
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.events import CircuitState, Event, ProviderFallback
from aster.contracts.llm import ModelRequest
from aster.herald.endpoint import Endpoint
from aster.herald.failure import FailureKind, HeraldError
from aster.herald.gateway import whole
from aster.herald.pool import Pool
from aster.herald.pools import Pools
from aster.infra.settings import Settings
from aster.testing import Cut, Failure, Hold, Malformed, ModelServer, Reply, Rule, StreamError, Text
from tests.herald.asking import asking, png, user
from tests.herald.test_breaker import Clock

DOWN = Rule(Failure(500), match="down")


@asynccontextmanager
async def pools(clock: Clock | None = None, **settings: Any) -> AsyncIterator[Pools]:
    made = Pools(Settings.model_validate(settings), None, clock=clock or Clock())
    try:
        yield made
    finally:
        await made.close()


@asynccontextmanager
async def servers(*names: str) -> AsyncIterator[list[ModelServer]]:
    """Servers that say their name, unless they are told to be down."""
    running = [ModelServer([DOWN, Rule(Reply([Text(name)]))]) for name in names]
    for server in running:
        await server.start()
    try:
        yield running
    finally:
        for server in running:
            await server.stop()


def nodes(*places: tuple[ModelServer, str]) -> str:
    return ", ".join(f"{server.url}/v1|{model}" for server, model in places)


async def said(pool: Pool | Pools, text: str = "Hi", model: str = "", **fields: Any) -> str:
    answer = await pool.complete(asking(text, model=model, **fields))
    return "".join(getattr(block, "text", "") for block in answer.blocks)


async def broken(pool: Pool | Pools, request: ModelRequest, times: int = 3) -> list[Event]:
    """Let a node fail; what was noticed."""
    seen: list[Event] = []
    for _ in range(times):
        call = pool.stream(request)
        with pytest.raises(HeraldError):
            await whole(call)
        seen += call.notices()
    return seen


async def test_nodes_are_asked_in_turn() -> None:
    async with (
        servers("a", "b", "c") as (a, b, c),
        pools(llm_pool_foreground=nodes((a, "m"), (b, "m"), (c, "m"))) as made,
    ):
        assert [await said(made) for _ in range(6)] == ["a", "b", "c", "a", "b", "c"]
        assert [call.body["model"] for call in a.calls] == ["m", "m"]


async def test_a_turn_stays_where_it_is_until_that_fails() -> None:
    async with servers("a", "b") as (a, b), pools(llm_pool_foreground=nodes((a, "m"), (b, "m"))) as made:
        assert [await said(made, turn_id="t1"), await said(made, turn_id="t2")] == ["a", "b"]
        assert [await said(made, turn_id="t1") for _ in range(3)] == ["a", "a", "a"]
        await broken(made, asking("down", model="", turn_id="t1"), times=1)
        assert await said(made, turn_id="t1") == "b"


async def test_the_node_that_has_the_model_is_asked_first() -> None:
    async with servers("a", "b") as (a, b), pools(llm_pool_foreground=nodes((a, "small"), (b, "large"))) as made:
        assert [await said(made, model="large") for _ in range(3)] == ["b", "b", "b"]


async def test_an_open_circuit_is_passed_over_with_an_event() -> None:
    async with servers("a", "b") as (a, b), pools(llm_pool_foreground=nodes((a, "small"), (b, "large"))) as made:
        seen = await broken(made, asking("down", model="large", firm=True))
        name = f"127.0.0.1:{b.port}/large"
        assert seen == [CircuitState(endpoint=name, state="open", failures=3, retry_after_ms=60_000)]
        call = made.stream(asking("Hi", model="large"))
        await whole(call)
        assert call.notices() == [ProviderFallback(from_model="large", to_model="small", reason="circuit_open")]
        assert (len(b.calls), call.model) == (3, "small")
        with pytest.raises(HeraldError) as caught:
            await said(made, model="large", firm=True)
        assert (caught.value.resting, caught.value.retry_after, len(b.calls)) == (True, 60.0, 3)


async def test_half_open_admits_one_call_and_its_success_closes(server: ModelServer) -> None:
    clock = Clock()
    async with pools(clock, llm_pool_foreground=nodes((server, "m"))) as made:
        server.enqueue(*[Failure(503)] * 3, Reply([Text("back"), Hold(), Text("!")]), Reply([Text("and well")]))
        await broken(made, asking("Hi"))
        with pytest.raises(HeraldError) as caught:
            await said(made)
        assert (caught.value.kind, caught.value.retry) == (FailureKind.OVERLOADED, "after")
        clock.now += 60
        probe = made.stream(asking("Hi"))
        async with probe as batches:
            await anext(batches)
            assert [getattr(event, "state", "") for event in probe.notices()] == ["half_open"]
            for _ in range(50):
                with pytest.raises(HeraldError):
                    await said(made)
            assert len(server.calls) == 4
            server.release()
            async for _ in batches:
                pass
        assert [getattr(event, "state", "") for event in probe.notices()] == ["closed"]
        assert await said(made) == "and well"


async def test_a_probe_that_is_given_up_blocks_nobody(server: ModelServer) -> None:
    clock = Clock()
    async with pools(clock, llm_pool_foreground=nodes((server, "m"))) as made:
        server.enqueue(*[Failure(500)] * 3, Reply([Text("back"), Hold()]), Reply([Text("well")]))
        await broken(made, asking("Hi"))
        clock.now += 60
        async with made.stream(asking("Hi")) as batches:
            await anext(batches)
        assert await said(made) == "well"


@pytest.mark.parametrize(
    "fault",
    [
        Failure(500),
        Failure(529),
        Reply([Text("half"), Cut()]),
        Reply([Text("half"), StreamError("overloaded")]),
        Reply([Text("half"), Malformed(b"data: {nonsense\n\n")]),
    ],
    ids=["500", "529", "cut", "error in the stream", "malformed"],
)
async def test_what_speaks_against_an_endpoint(server: ModelServer, fault: Any) -> None:
    async with pools(llm_pool_foreground=nodes((server, "m"))) as made:
        server.enqueue(*[fault] * 3)
        seen = await broken(made, asking("Hi"))
        assert [getattr(event, "state", "") for event in seen] == ["open"]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 408, 409, 413, 422, 429])
async def test_a_4xx_never_counts(server: ModelServer, status: int) -> None:
    async with pools(llm_pool_foreground=nodes((server, "m"))) as made:
        server.enqueue(*[Failure(status)] * 4)
        assert await broken(made, asking("Hi"), times=2) == []
        assert made.foreground.nodes[0].breaker.failures == 0


async def test_worker_and_coding_use_the_foreground_when_they_have_nobody() -> None:
    async with servers("front", "work") as (front, work):
        front_node, work_node = nodes((front, "m")), nodes((work, "w"))
        async with pools(llm_pool_foreground=front_node, llm_pool_worker=work_node) as made:
            assert [await said(made.worker), await said(made.coding), await said(made.critic)] == [
                "work",
                "front",
                "front",
            ]
            await broken(made.worker, asking("down", model=""))
            assert await said(made.worker) == "front"


async def test_a_role_is_answered_by_its_pool_unless_the_model_or_the_turn_is_elsewhere() -> None:
    async with (
        servers("front", "code") as (front, code),
        pools(llm_pool_foreground=nodes((front, "m")), llm_pool_coding=nodes((code, "coder"))) as made,
    ):
        here, there = made.foreground.nodes[0].name, made.coding.nodes[0].name
        assert made.assigned(asking("Hi", model="", role="coding")).model == "coder"
        assert await said(made, role="coding") == "code"
        assert await said(made, role="coding", endpoint=there) == "code"
        assert await said(made, role="coding", endpoint="gone/x") == "code"
        assert await said(made, role="coding", model="m") == "front"
        assert await said(made, role="coding", endpoint=here) == "front"
        assert [await said(made, role="worker"), await said(made, role="critic")] == ["front", "front"]


async def test_a_pool_without_anybody_left_is_stood_in_for_by_another_model_with_an_event() -> None:
    async with (
        servers("front", "code") as (front, code),
        pools(llm_pool_foreground=nodes((front, "m")), llm_pool_coding=nodes((code, "coder"))) as made,
    ):
        await broken(made, asking("down", model="", role="coding"))
        request = made.assigned(asking("Hi", model="", role="coding"))
        call = made.stream(request)
        await whole(call)
        assert call.notices() == [ProviderFallback(from_model="coder", to_model="m", reason="circuit_open")]
        assert call.endpoint == made.foreground.nodes[0].name
        assert front.calls[0].body["model"] == "m"
        with pytest.raises(HeraldError) as caught:
            await made.complete(msgspec.structs.replace(request, firm=True))
        assert caught.value.resting
        assert len(front.calls) == 1


async def test_a_turn_that_failed_at_the_stand_in_moves_on_there_too() -> None:
    async with servers("a", "b", "work") as (a, b, work):
        listed = nodes((a, "m"), (b, "m"))
        async with pools(llm_pool_foreground=listed, llm_pool_worker=nodes((work, "w"))) as made:
            await broken(made, asking("down", model="", role="worker"))
            assert await said(made, role="worker", turn_id="t1") == "a"
            await broken(made, asking("down", model="", role="worker", turn_id="t1"), times=1)
            assert await said(made, role="worker", turn_id="t1") == "b"


async def test_a_turn_goes_on_where_it_was_answered_last() -> None:
    async with servers("a", "b", "c") as (a, b, c):
        listed = nodes((a, "one"), (b, "two"), (c, "one"))
        async with pools(llm_pool_foreground=listed) as made:
            first, second, third = (node.name for node in made.foreground.nodes)
            assert [await said(made, endpoint=second) for _ in range(3)] == ["b", "b", "b"]
            assert await said(made, endpoint=third, turn_id="t1") == "c"
            await broken(made, asking("down", model="", endpoint=third, turn_id="t1"), times=1)
            assert await said(made, endpoint=third, turn_id="t1") == "a"
            await broken(made, asking("down", model="", endpoint=second))
            assert await said(made, endpoint=second) in ("a", "c")
            with pytest.raises(HeraldError):
                await said(made, endpoint=second, firm=True)
            assert made.assigned(asking("Hi", model="", endpoint=first)).model == "one"


async def test_images_go_to_the_pool_that_sees_and_nowhere_else() -> None:
    async with servers("text", "eye") as (text, eye):
        blind, seeing = nodes((text, "blind")), nodes((eye, "llava"))
        async with pools(llm_pool_foreground=blind, llm_pool_vision=seeing, fallback_model="blind") as made:
            picture = asking(user("What is it?", png()), model="")
            assert made.assigned(picture).model == "llava"
            assert (await made.complete(picture)).blocks[0].text == "eye"  # type: ignore[union-attr]
            assert await said(made) == "text"
            await broken(made, asking(user("down", png()), model=""))
            with pytest.raises(HeraldError):
                await made.complete(picture)
            assert made.fallback(made.assigned(picture)) is None
            assert len(text.calls) == 1


async def test_a_limit_that_is_used_up_sends_nothing(server: ModelServer) -> None:
    kept: list[QuotaRow] = []
    home = Endpoint.openai_compatible(server.url, "m", "secret-key")
    settings = Settings.model_validate({"llm_provider": "openai_compatible", "llm_base_url": server.url})
    made = Pools(settings, home, kept.append)
    server.enqueue(Failure(429, retry_after=300))
    for _ in range(2):
        with pytest.raises(HeraldError) as caught:
            await said(made)
        assert caught.value.code is ErrorCode.LLM_RATE_LIMITED
        assert caught.value.retry_after is not None
        assert 299 < caught.value.retry_after <= 300
    assert len(server.calls) == 1
    assert "secret" not in repr(kept)
    await made.close()

    again = Pools(settings, home)
    again.restore(kept)
    with pytest.raises(HeraldError):
        await said(again)
    assert len(server.calls) == 1
    await again.close()
    server.enqueue(Reply([Text("another account")]))
    other = Pools(settings, Endpoint.openai_compatible(server.url, "m", "another-key"))
    other.restore(kept)
    assert await said(other) == "another account"
    await other.close()


async def test_a_node_whose_limit_is_used_up_is_passed_over() -> None:
    async with servers("a", "b") as (a, b), pools(llm_pool_foreground=nodes((a, "m"), (b, "m"))) as made:
        a.enqueue(Failure(429, retry_after=300))
        with pytest.raises(HeraldError):
            await said(made)
        assert [await said(made) for _ in range(3)] == ["b", "b", "b"]


async def test_pools_that_name_the_same_node_share_it(server: ModelServer) -> None:
    listed = nodes((server, "m"))
    async with pools(llm_pool_foreground=listed, llm_pool_worker=listed) as made:
        assert made.nodes == [made.worker.nodes[0]] == [made.foreground.nodes[0]]
        assert made.pools_of(made.nodes[0]) == ["foreground", "worker"]


async def test_a_model_of_no_node_is_asked_for_at_the_provider(server: ModelServer) -> None:
    async with servers("pool") as (other,):
        settings = Settings.model_validate(
            {
                "llm_provider": "openai_compatible",
                "llm_base_url": server.url,
                "llm_model": "usual",
                "llm_pool_foreground": nodes((other, "m")),
            }
        )
        made = Pools(settings, Endpoint.from_settings(settings))
        server.enqueue(Reply([Text("home")]))
        assert [await said(made, model="special"), await said(made)] == ["home", "pool"]
        assert server.calls[0].body["model"] == "special"
        await made.close()


def test_keys_go_where_they_belong() -> None:
    settings = Settings.model_validate(
        {
            "llm_provider": "openai",
            "llm_base_url": "http://127.0.0.1:8001/v1",
            "llm_api_key": "provider-key",
            "llm_pool_api_key": "pool-key",
            "llm_pool_foreground": "http://127.0.0.1:8001/v1|a, http://127.0.0.1:8002/v1|b, anthropic:|c",
        }
    )
    made = Pools(settings, None)
    assert [node.endpoint.key for node in made.foreground.nodes] == ["provider-key", "pool-key", "pool-key"]
    assert made.foreground.nodes[2].endpoint.protocol == "anthropic"


@pytest.mark.parametrize(
    ("listed", "shown"),
    [
        ("http:://host/v1|m", "http:://host/v1|m"),
        ("http://host/v1", "http://host/v1"),
        ("http://host/v1|", "http://host/v1|"),
        ("http://a/v1|m, nonsense:http://b|m", "nonsense:http://b|m"),
        ("demo:|m", "demo:|m"),
        ("anthropic:|m", "anthropic:|m"),
        ("ftp://host|m", "ftp://host|m"),
        ("|m", "|m"),
        ("http://user:hunter2@host/v1|m", "http://…@host/v1|m"),
        ("http://a|m|n", "http://a|m|n"),
    ],
)
def test_a_typo_names_the_node(listed: str, shown: str) -> None:
    with pytest.raises(EngineError) as caught:
        Pools(Settings.model_validate({"llm_pool_worker": listed}), Endpoint.openai_compatible("http://h", "m"))
    assert caught.value.code is ErrorCode.CONFIGURATION_INVALID
    assert f"`{shown}`" in caught.value.message
    assert list(caught.value.details or {}) == ["LLM_POOL_WORKER"]
    assert "hunter2" not in str(caught.value.body())


@pytest.mark.parametrize("field", ["fallback_model", "llm_allowed_models", "light_model", "planner_model"])
def test_a_model_nobody_has_is_a_mistake(field: str) -> None:
    settings = Settings.model_validate({"llm_pool_foreground": "http://h/v1|m", field: "n"})
    with pytest.raises(EngineError) as caught:
        Pools(settings, None)
    assert list(caught.value.details or {}) == [field.upper()]


def test_somebody_has_to_answer() -> None:
    with pytest.raises(EngineError, match="LLM_POOL_FOREGROUND"):
        Pools(Settings.model_validate({}), None)
