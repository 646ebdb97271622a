"""What may be said of an item: hostile and clumsy input is refused whole, with the field that is wrong."""

from typing import Any

import pytest

from aster.contracts.errors import EngineError
from aster.contracts.work import WorkDraft, WorkEdit
from aster.work.graph import rules
from tests.work.graph.boards import Opened


def plain(text: str) -> str:
    return text.replace("hunter2", "***")


def problem(work: Any) -> str:
    with pytest.raises(EngineError) as caught:
        work()
    return (caught.value.details or {})["fields"][0]["field"]


@pytest.mark.parametrize(
    ("draft", "field"),
    [
        ({"subject": " "}, "items.0.subject"),
        ({"subject": "two\nlines"}, "items.0.subject"),
        ({"subject": "x" * 301}, "items.0.subject"),
        ({"subject": "x", "description": "x" * 20_001}, "items.0.description"),
        ({"subject": "x", "priority": 101}, "items.0.priority"),
        ({"subject": "x", "role": "../etc"}, "items.0.role"),
        ({"subject": "x", "name": "\u202ename"}, "items.0.name"),
    ],
)
def test_a_draft_that_breaks_a_rule_is_refused(draft: dict[str, Any], field: str) -> None:
    assert problem(lambda: rules.drafts([WorkDraft(**draft)], plain)) == field


def test_names_are_given_once_and_there_are_not_too_many() -> None:
    twice = [WorkDraft(subject="a", name="n"), WorkDraft(subject="b", name="n")]
    assert problem(lambda: rules.drafts(twice, plain)) == "items.1.name"
    assert problem(lambda: rules.drafts([], plain)) == "items"
    assert problem(lambda: rules.drafts([WorkDraft(subject="a")] * 201, plain)) == "items"


def test_secrets_are_taken_out_of_what_is_said() -> None:
    (made,) = rules.drafts([WorkDraft(subject="use hunter2 ", description="or hunter2")], plain)
    assert (made.subject, made.description) == ("use ***", "or ***")
    changed = rules.edit(WorkEdit(subject="hunter2"), plain)
    assert changed == WorkEdit(subject="***")
    assert rules.text("result", "hunter2", 10, plain) == "***"
    assert problem(lambda: rules.text("result", "x" * 11, 10, plain)) == "result"


def test_owners_boards_and_roles_have_names() -> None:
    assert rules.owner("task 7 / Ada") == "task 7 / Ada"
    assert problem(lambda: rules.owner(" ")) == "owner"
    assert problem(lambda: rules.owner("a\x00b")) == "owner"
    assert rules.board("team:blue/1") == "team:blue/1"
    assert problem(lambda: rules.board("")) == "board"
    assert rules.roles(["a", "b", "a"]) == ("a", "b")
    assert problem(lambda: rules.roles(["a", "'; --"])) == "roles"


async def test_wrong_requests_change_nothing(opened: Opened) -> None:
    async with opened() as board:
        (item,) = await board.ids("Dig")
        place = f"/work/items/{item}"
        for method, path, body in (
            ("POST", "/work/items", {"items": []}),
            ("POST", "/work/items", {"items": [{"subject": "x", "role": "a b"}]}),
            ("POST", "/work/items", {"items": [{"subject": "x"}], "board": "../up"}),
            ("POST", "/work/items", {"items": [{"subject": "x", "priority": 1000}]}),
            ("POST", "/work/edges", {}),
            ("POST", "/work/claim", {"roles": ["a b"]}),
            ("PATCH", place, {"subject": "two\nlines"}),
            ("POST", f"{place}/claim", {"owner": "a\u0007"}),
        ):
            answer = await board.http.request(method, path, json=body)
            assert (answer.status_code, answer.json()["error"]) == (422, "INVALID_REQUEST"), (path, body)
        assert (await board.http.get("/work/items", params={"board": "a b"})).status_code == 422
        assert (await board.item(item))["version"] == 1
        for path in ("/work/items/work-nothing", "/work/items/work-nothing/history"):
            assert (await board.http.get(path)).status_code == 404


async def test_an_item_is_changed_only_if_it_is_as_it_was_read(opened: Opened) -> None:
    async with opened() as board:
        (item,) = await board.ids({"subject": "Dig", "role": "digger"}, board="garden")
        first = await board.http.patch(
            f"/work/items/{item}", json={"subject": "Dig deep", "role": "", "version": 1}
        )
        changed = first.json()
        assert (changed["subject"], changed["role"], changed["version"]) == ("Dig deep", None, 2)
        stale = await board.http.patch(f"/work/items/{item}", json={"priority": 3, "version": 1})
        assert (stale.status_code, stale.json()["details"]["reason"]) == (409, "stale")
        same = await board.http.patch(f"/work/items/{item}", json={"subject": "Dig deep"})
        assert same.json()["version"] == 2
        boards = (await board.http.get("/work/boards")).json()["boards"]
        assert boards == [{"board": "garden", "pending": 1, "in_progress": 0, "completed": 0, "ready": 1}]
        assert (await board.http.get("/work/items")).json()["items"] == []
        taken = await board.http.post("/work/claim", json={"board": "garden", "owner": "w"})
        assert taken.json()["item"]["owner"] == "w"
        none = await board.http.post("/work/claim", json={"board": "garden", "owner": "x"})
        assert none.json() == {"item": None}
