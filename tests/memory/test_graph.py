"""Ways through the graph: along what holds, from what is named, never in a circle."""

import pytest

from aster.contracts.errors import EngineError
from aster.memory.memory import Memory
from tests.memory.conftest import edge


@pytest.fixture
async def family(memory: Memory) -> Memory:
    pairs = [
        ("User", "owns", "Dog"),
        ("Dog", "named", "Max"),
        ("Anna", "married to", "User"),
        ("Max", "likes", "Anna"),
        ("Stranger", "likes", "Tea"),
    ]
    await memory.write("ada", [edge(*pair) for pair in pairs])
    return memory


async def said(memory: Memory, *names: str, hops: int = 3, limit: int = 50) -> list[str]:
    return [str(way) for way in await memory.ways("ada", names, hops=hops, limit=limit)]


async def test_a_way_reads_from_its_source(family: Memory) -> None:
    assert "- (User) -[OWNS]-> (Dog) -[NAMED]-> (Max)" in await said(family, "user")
    assert "- (Anna) -[MARRIED_TO]-> (User) -[OWNS]-> (Dog)" in await said(family, "user")
    assert not any("Tea" in way for way in await said(family, "user"))


async def test_names_are_found_in_part_and_nearly(family: Memory) -> None:
    assert await said(family, "stran") == await said(family, "stranger") == await said(family, "strnger")
    assert await said(family, "ax", "zz") == []
    assert await said(family, "nobody") == []


async def test_hops_and_limit_are_kept(family: Memory) -> None:
    assert max(way.count("]->") for way in await said(family, "dog", hops=1)) == 1
    assert max(way.count("]->") for way in await said(family, "dog")) == 3
    assert len(await said(family, "dog", limit=2)) == 2
    with pytest.raises(EngineError):
        await said(family, "dog", hops=4)


async def test_no_way_visits_anybody_twice(family: Memory) -> None:
    for way in await said(family, "user", "dog", "max", "anna"):
        names = [part.split(")")[0] for part in way.split("(")[1:]]
        assert len(names) == len(set(names)), way


async def test_what_was_heard_often_comes_first(family: Memory) -> None:
    await family.write("ada", [edge("Max", "likes", "Anna")] * 4)
    assert (await said(family, "max", hops=1))[0] == "- (Max) -[LIKES]-> (Anna) [Score 5]"


async def test_what_ended_is_not_walked(family: Memory) -> None:
    await family.write("ada", [edge("Anna", "married to", "Paul")])
    assert await said(family, "anna", hops=1) == [
        "- (Anna) -[MARRIED_TO]-> (Paul)",
        "- (Max) -[LIKES]-> (Anna)",
    ]
    assert [str(way) for way in await family.ways("bob", ["anna"], hops=3, limit=9)] == []
