"""Claims by several replicas in the same moment, again and again: one of them gets it each time."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack

import pytest

from aster.brain.postgres.brain import PostgresBrain
from aster.brain.work import Actor, Claim, Create, WorkOutcome
from aster.contracts.errors import EngineError
from aster.contracts.work import WorkDraft

REPLICAS = 3
ROUNDS = 60
PERSON = Actor(user_id="ada", name="ada", person=True)


@pytest.fixture
async def brains(clean_url: str) -> AsyncIterator[list[PostgresBrain]]:
    async with AsyncExitStack() as stack:
        found = [PostgresBrain(clean_url, readers=1) for _ in range(REPLICAS)]
        for brain in found:
            await brain.start()
            stack.push_async_callback(brain.close)
        yield found


async def items(brain: PostgresBrain) -> list[str]:
    drafts = tuple(WorkDraft(subject=str(at)) for at in range(ROUNDS))
    made = await brain.work.do(Create(actor=PERSON, board="main", drafts=drafts, most=ROUNDS))
    return [item.item_id for item in made.items]


async def at_once(brains: list[PostgresBrain], claims: Iterable[tuple[str, str]]) -> tuple[int, set[str]]:
    """How many of these claims (item and owner), one on each replica, went through, and why the others did not."""
    got = await asyncio.gather(
        *(
            brain.work.do(Claim(actor=PERSON, owner=owner, item_id=item_id))
            for brain, (item_id, owner) in zip(brains, claims, strict=True)
        ),
        return_exceptions=True,
    )
    lost = {(one.details or {})["reason"] for one in got if isinstance(one, EngineError)}
    return sum(isinstance(one, WorkOutcome) for one in got), lost


async def test_of_replicas_that_claim_in_the_same_moment_one_gets_it(brains: list[PostgresBrain]) -> None:
    for item_id in await items(brains[0]):
        claims = ((item_id, f"{item_id}-{number}") for number in range(REPLICAS))
        assert await at_once(brains, claims) == (1, {"already_claimed"})


async def test_of_an_owner_who_claims_on_several_replicas_at_once_one_claim_holds(
    brains: list[PostgresBrain],
) -> None:
    made = await items(brains[0])
    for at in range(0, ROUNDS, REPLICAS):
        claims = ((item_id, f"w{at}") for item_id in made[at : at + REPLICAS])
        assert await at_once(brains, claims) == (1, {"busy_owner"})
