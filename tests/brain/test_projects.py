"""Projects in both brains: an item is begun once, is completed by a result alone, and what is left open is found."""

import asyncio

import pytest

from aster.brain.projects import AddItems, BeginAdvance, CreateProject, EndAdvance, LogRecord, ProjectDraft
from aster.brain.protocol import Brain
from aster.brain.work import Actor
from aster.contracts.errors import EngineError
from aster.contracts.projects import Advance, ProjectBudget
from aster.contracts.work import WorkDraft
from aster.infra.clock import now_ms

ME = Actor(user_id="u", name="u", person=True)


async def made(brain: Brain, *subjects: str, budget: ProjectBudget | None = None) -> str:
    draft = ProjectDraft(title="Bridge", budget=budget or ProjectBudget())
    await brain.projects.do(CreateProject(actor=ME, project_id="p", draft=draft, most=10))
    drafts = tuple(WorkDraft(subject=subject) for subject in subjects)
    await brain.projects.do(AddItems(actor=ME, project_id="p", drafts=drafts, most=100))
    return "p"


async def begun(brain: Brain, advance_id: str = "a", *, going: bool = False) -> Advance:
    order = BeginAdvance(actor=ME, project_id="p", advance_id=advance_id, going=going)
    advance = (await brain.projects.do(order)).advance
    assert advance is not None
    return advance


async def test_of_many_who_begin_at_once_one_does_and_the_same_again_is_the_same(brain: Brain) -> None:
    await made(brain, "Dig", "Fill")
    tries = [begun(brain, f"a{at}") for at in range(8)]
    got = await asyncio.gather(*tries, return_exceptions=True)
    assert sum(isinstance(one, Advance) for one in got) == 1
    assert all(isinstance(one, Advance | EngineError) for one in got)
    (first,) = await brain.projects.open_advances(now_ms(), 10)
    assert await begun(brain, first.advance_id) == first
    assert [one.advance_id for one in await brain.projects.advances("u", "p", limit=9)] == [first.advance_id]


@pytest.mark.parametrize("result", ["Dug.", None])
async def test_only_a_result_completes_an_item_and_an_end_counts_once(brain: Brain, result: str | None) -> None:
    await made(brain, "Dig")
    advance = await begun(brain)
    end = EndAdvance(actor=ME, advance_id="a", tool_calls=3, usd=0.5, result=result, reason="It failed.")
    for _ in range(2):
        await brain.projects.do(end)
    project = await brain.projects.project("u", "p")
    assert project is not None
    assert (project.status, project.used.steps, project.used.tool_calls, project.used.usd) == (
        "DONE" if result else "NEEDS_USER",
        1,
        3,
        0.5,
    )
    item = await brain.work.item("u", advance.item_id)
    assert item is not None
    assert (item.status, item.result) == (("completed", "Dug.") if result else ("pending", None))
    assert [one.content for one in await brain.projects.results("u", "p", 9)] == ([result] if result else [])
    assert await brain.projects.open_advances(now_ms(), 10) == []


async def test_one_that_goes_on_has_its_next_item_in_the_commit_that_ends_the_one_before(brain: Brain) -> None:
    await made(brain, "Dig", "Fill", budget=ProjectBudget(steps=2))
    await begun(brain, going=True)
    await brain.projects.do(EndAdvance(actor=ME, advance_id="a", result="Dug."))
    (following,) = await brain.projects.open_advances(now_ms(), 10)
    assert following.advance_id != "a"
    assert await brain.projects.look_later(following, now_ms() + 60_000)
    assert not await brain.projects.look_later(following, now_ms() + 60_000)
    assert await brain.projects.open_advances(now_ms(), 10) == []


async def test_what_is_noted_is_bounded(brain: Brain) -> None:
    await made(brain, "Dig")
    for at in range(4):
        note = LogRecord(actor=ME, project_id="p", record_id=f"r{at}", kind="note", message=str(at), keep=2)
        await brain.projects.do(note)
        await brain.projects.do(note)
    assert [one.message for one in await brain.projects.records("u", "p", limit=9)] == ["3", "2"]
