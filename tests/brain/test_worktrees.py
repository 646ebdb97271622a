"""Worktrees in a brain: one for an item, bound once git has made it, and nobody's to take away who is not a person."""

import pytest

from aster.brain.protocol import Brain
from aster.brain.records import ThreadKey
from aster.brain.work import Actor, Claim, Complete, Create
from aster.brain.worktrees import Bind, Keep, Remove, Removing, Reserve, Spoil, Stay, WorktreeOrder
from aster.contracts.errors import EngineError
from aster.contracts.work import WorkDraft
from aster.contracts.worktrees import Worktree

PERSON = Actor(user_id="ada", name="ada", person=True)


async def item(brain: Brain) -> str:
    done = await brain.work.do(Create(actor=PERSON, board="main", drafts=(WorkDraft(subject="Dig"),), most=9))
    return done.items[0].item_id


def reserve(item_id: str, name: str = "dig", most: int = 5) -> Reserve:
    tree = Worktree(
        worktree_id=f"tree-{name}",
        name=name,
        repository="/repo",
        path=f"/repo/.aster/worktrees/{name}",
        branch=f"wt/{name}",
        status="creating",
        item_id=item_id,
    )
    return Reserve(actor=PERSON, tree=tree, most=most, stale_ms=60_000)


async def refused(brain: Brain, order: WorktreeOrder) -> str:
    with pytest.raises(EngineError) as caught:
        await brain.worktrees.do(order)
    return str((caught.value.details or {})["reason"])


async def test_an_item_is_bound_once_and_only_when_git_is_done(brain: Brain) -> None:
    trees, dig = brain.worktrees, await item(brain)
    await trees.do(reserve(dig))
    assert await trees.of_item("ada", dig) is None
    assert await refused(brain, reserve(dig, "other")) in ("item_bound", "being_made")
    bound = await trees.do(Bind(actor=PERSON, worktree_id="tree-dig", base="abc"))
    assert (bound.status, bound.base) == ("active", "abc")
    assert await trees.of_item("ada", dig) == bound
    assert [tree.item_id for tree in await trees.waiting("ada")] == [dig]
    held = await brain.work.item("ada", dig)
    assert held is not None
    assert held.worktree == "dig"
    assert await trees.get("eve", "tree-dig") is None
    assert await trees.trees("eve", limit=9) == []


async def test_what_could_not_be_made_leaves_the_item_free(brain: Brain) -> None:
    trees, dig = brain.worktrees, await item(brain)
    await trees.do(reserve(dig))
    spoilt = await trees.do(Spoil(actor=PERSON, worktree_id="tree-dig", reason="git said no"))
    assert (spoilt.status, spoilt.reason) == ("failed", "git said no")
    assert await trees.of_item("ada", dig) is None
    await trees.do(reserve(dig, "again"))
    assert [tree.name for tree in await trees.trees("ada", limit=9, item_id=dig)] == ["again", "dig"]
    assert [tree.name for tree in await trees.trees("ada", limit=9, status="failed")] == ["dig"]


async def test_the_holder_of_the_item_works_there_and_until_it_is_done_it_stays(brain: Brain) -> None:
    trees, dig = brain.worktrees, await item(brain)
    await trees.do(reserve(dig))
    await trees.do(Bind(actor=PERSON, worktree_id="tree-dig", base="abc"))
    agent = Actor(user_id="ada", name="t1", task_id="t1", turn_id="turn-1")
    await brain.work.do(Claim(actor=agent, owner="t1", item_id=dig))
    found = await trees.of_turn(ThreadKey("ada", "t1"), "turn-1")
    assert found is not None
    assert found.worktree_id == "tree-dig"
    assert await trees.of_turn(ThreadKey("ada", "t2"), "turn-2") is None
    assert await trees.of_turn(ThreadKey("eve", "t1"), "turn-1") is None
    assert await refused(brain, Removing(actor=PERSON, worktree_id="tree-dig")) == "unfinished"
    await brain.work.do(Complete(actor=agent, item_id=dig, owner="t1"))
    assert (await trees.do(Keep(actor=PERSON, worktree_id="tree-dig"))).status == "kept"
    await trees.do(Removing(actor=PERSON, worktree_id="tree-dig"))
    assert (await trees.do(Stay(actor=PERSON, worktree_id="tree-dig"))).status == "kept"
    await trees.do(Removing(actor=PERSON, worktree_id="tree-dig"))
    gone = await trees.do(Remove(actor=PERSON, worktree_id="tree-dig", reason="The branch wt/dig is kept."))
    assert gone.status == "removed"
    assert await trees.of_item("ada", dig) is None
    assert await refused(brain, Removing(actor=PERSON, worktree_id="tree-dig")) == "removed"
