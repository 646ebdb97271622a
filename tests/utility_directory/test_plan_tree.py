"""The rules of a plan: sound shapes, wholes and parts, alternatives, and what is done staying done."""

from typing import Any

import pytest

from aster.contracts.events import Plan, PlanStep
from aster.utility_directory.plan_tree import (
    MOST_DEPTH,
    MOST_REVISIONS,
    MOST_STEPS,
    UnsoundPlan,
    active,
    begun,
    changed,
    rendered,
    revised,
    shows,
)


def step(id_: str, **fields: Any) -> PlanStep:
    return PlanStep(id=id_, text=f"do {id_}", **fields)


def plan(*steps: PlanStep) -> Plan:
    return begun("the goal", steps)


def statuses(of: Plan) -> dict[str, str]:
    return {item.id: item.status for item in of.steps}


def done(id_: str, **fields: Any) -> dict[str, Any]:
    return {"id": id_, "status": "completed", **fields}


def test_a_whole_is_done_when_all_its_parts_are() -> None:
    tree = plan(step("a"), step("a1", parent="a"), step("a2", parent="a"))
    tree = changed(tree, [done("a1")])
    assert statuses(tree) == {"a": "in_progress", "a1": "completed", "a2": "pending"}
    assert statuses(changed(tree, [done("a2")]))["a"] == "completed"


def test_what_is_said_of_a_whole_counts_less_than_its_parts() -> None:
    tree = plan(step("a"), step("a1", parent="a"))
    assert statuses(changed(tree, [{"id": "a", "status": "in_progress"}]))["a"] == "pending"


def test_the_first_of_any_parts_is_enough() -> None:
    tree = plan(step("a", join="any"), step("a1", parent="a"), step("a2", parent="a"), step("a21", parent="a2"))
    tree = changed(tree, [done("a1", result="found it")])
    assert statuses(tree) == {"a": "completed", "a1": "completed", "a2": "skipped", "a21": "skipped"}
    assert tree.steps[0].result == "found it"


def test_the_best_waits_for_all_parts_and_takes_the_longest_result() -> None:
    tree = plan(step("a", join="best"), *(step(f"a{n}", parent="a") for n in (1, 2, 3)))
    tree = changed(tree, [done("a1", result="short"), done("a2", result="a longer one")])
    assert statuses(tree)["a"] == "in_progress"
    tree = changed(tree, [{"id": "a3", "status": "failed"}])
    assert (tree.steps[0].status, tree.steps[0].result) == ("completed", "a longer one")


def test_a_whole_whose_parts_all_failed_has_failed_until_one_is_tried_again() -> None:
    tree = plan(step("a", join="any"), step("a1", parent="a"))
    tree = changed(tree, [{"id": "a1", "status": "failed"}])
    assert statuses(tree)["a"] == "failed"
    assert statuses(changed(tree, [done("a1")]))["a"] == "completed"


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        ("All 12 tests are green now", "completed"),
        ("12 tests passed, all green", "completed"),
        ("it broke", "failed"),
    ],
)
def test_a_step_is_done_when_its_result_shows_it(result: str, expected: str) -> None:
    tree = plan(step("a", done_when="the tests are green"), step("b", alternative_to="a"))
    tree = changed(tree, [done("a", result=result)])
    assert statuses(tree)["a"] == expected
    following = active(tree)
    assert (following and following.id) == (None if expected == "completed" else "b")
    assert statuses(tree)["b"] == ("skipped" if expected == "completed" else "pending")


def test_what_has_to_be_shown_cannot_be_left_out() -> None:
    with pytest.raises(UnsoundPlan, match="the tests are green"):
        changed(plan(step("a", done_when="the tests are green")), [done("a")])


def test_a_result_shows_most_words_or_the_words_themselves() -> None:
    assert shows("Exit status 0", "exit status 0")
    assert shows("the report was written to disk", "report written to a file on disk")
    assert not shows("nothing", "report written")
    assert not shows("and the", "the and for")


def test_an_alternative_counts_for_what_it_stands_for() -> None:
    tree = plan(step("a"), step("b", alternative_to="a"), step("c", depends_on=("a",)))
    with pytest.raises(UnsoundPlan, match="b comes after a"):
        changed(tree, [{"id": "b", "status": "in_progress"}])
    tree = changed(tree, [{"id": "a", "status": "failed"}])
    with pytest.raises(UnsoundPlan, match="c comes after a"):
        changed(tree, [done("c")])
    assert statuses(changed(tree, [done("b"), done("c")]))["c"] == "completed"


def test_what_is_done_stays_done_with_its_result() -> None:
    tree = changed(plan(step("a"), step("b")), [done("a", result="the result")])
    tree = changed(tree, [{"id": "a", "status": "pending", "text": "something else", "result": "worse"}])
    assert tree.steps[0] == step("a", status="completed", result="the result")
    assert tree.revision == 1


def test_a_step_waits_for_what_its_whole_comes_after() -> None:
    tree = plan(step("a"), step("b", depends_on=("a",)), step("b1", parent="b"))
    assert (active(tree) or step("?")).id == "a"
    with pytest.raises(UnsoundPlan, match="b1 comes after a"):
        changed(tree, [done("b1")])


@pytest.mark.parametrize(
    ("steps", "problem"),
    [
        ([step("a", depends_on=("b",)), step("b", depends_on=("a",))], "wait for each other"),
        ([step("a", depends_on=("a",))], "wait for each other"),
        ([step("a", parent="b"), step("b", parent="a")], "parts of each other"),
        ([step("a", parent="b", depends_on=("b",)), step("b")], "wait for each other"),
        (
            [step("p", depends_on=("q",)), step("c", parent="p"), step("q", depends_on=("c",))],
            "wait for each other",
        ),
        ([step("a", depends_on=("ghost",))], "ghost"),
        ([step("a", parent="ghost")], "ghost"),
        ([step("a", alternative_to="ghost")], "ghost"),
        ([step("a"), step("a")], "same id"),
        ([], "between 1"),
        ([step(f"s{n}") for n in range(MOST_STEPS + 1)], "between 1"),
        ([PlanStep(id="a", text=" ")], "no text"),
    ],
)
def test_what_cannot_be_a_plan_is_refused(steps: list[PlanStep], problem: str) -> None:
    with pytest.raises(UnsoundPlan, match=problem):
        begun("the goal", steps)


def test_parts_of_parts_have_an_end() -> None:
    chain = [step("s0"), *(step(f"s{n}", parent=f"s{n - 1}") for n in range(1, MOST_DEPTH + 3))]
    with pytest.raises(UnsoundPlan, match="deep"):
        begun("the goal", chain)


def test_steps_are_changed_a_few_times_and_moved_on_any_number_of_times() -> None:
    tree = plan(step("a"))
    for number in range(MOST_REVISIONS):
        tree = changed(tree, [{"id": f"n{number}", "text": "more"}])
    assert tree.revision == MOST_REVISIONS + 1
    with pytest.raises(UnsoundPlan, match="3 times"):
        changed(tree, [{"id": "one more", "text": "more"}])
    with pytest.raises(UnsoundPlan, match="3 times"):
        revised(tree, [step("z")])
    assert changed(tree, [{"id": "a", "status": "in_progress"}]).revision == tree.revision


def test_a_revision_keeps_what_was_done_and_drops_what_was_open() -> None:
    tree = changed(plan(step("a"), step("b"), step("c")), [done("a", result="r"), {"id": "b", "status": "failed"}])
    tree = revised(tree, [step("d", depends_on=("a",)), step("a", depends_on=("c",))])
    assert statuses(tree) == {"a": "completed", "b": "failed", "c": "skipped", "d": "pending"}
    assert (tree.steps[0].result, tree.revision) == ("r", 2)


def test_a_new_step_needs_a_text_and_no_step_comes_twice() -> None:
    with pytest.raises(UnsoundPlan, match="needs a text"):
        changed(plan(step("a")), [{"id": "b", "status": "completed"}])
    with pytest.raises(UnsoundPlan, match="twice"):
        changed(plan(step("a")), [done("a"), done("a")])


def test_it_reads_like_a_plan() -> None:
    tree = plan(step("a"), step("a1", parent="a"), step("b", depends_on=("a",), done_when="green"))
    text = rendered(changed(tree, [{"id": "a1", "status": "in_progress"}]))
    assert text.splitlines() == [
        "Goal: the goal",
        "[>] a: do a",
        "  [>] a1: do a1",
        "[ ] b: do b (after a; done when: green)",
        "Now: a1",
    ]
