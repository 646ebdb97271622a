"""Doubts through HTTP: noted within their scale, settled by id, also in a later turn."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from aster.testing import ModelServer, Reply, Text, ToolCall
from tests.engine_core.frames import events
from tests.live import Live, live


@pytest.fixture
async def model() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        yield server


@pytest.fixture
async def aster(model: ModelServer) -> AsyncIterator[Live]:
    async with live(model) as engine:
        yield engine


async def flagged(engine: Live, model: ModelServer, task_id: str = "t1", **given: Any) -> list[dict[str, Any]]:
    model.enqueue(Reply([ToolCall("flag_uncertainty", given)]), Reply([Text("That is not known here.")]))
    return events(await engine.execute("go", task_id), "uncertainty")


async def test_doubts_are_events_and_can_be_settled(aster: Live, model: ModelServer) -> None:
    doubt = {"kind": "assumption", "text": "The port is free.", "impact": 4, "confidence": 0.6}
    (noted,) = await flagged(aster, model, **doubt)
    assert (noted["item"], noted["impact"], noted["confidence"]) == ("assumption", 4, 0.6)
    (settled,) = await flagged(aster, model, kind="unknown", text="It was.", resolves=noted["item_id"])
    assert (settled["item_id"], settled["resolved"]) == (noted["item_id"], True)
    assert (settled["item"], settled["text"], settled["note"]) == ("assumption", "The port is free.", "It was.")
    (listed,) = (await aster.http.get("/tasks/t1/uncertainties")).json()["uncertainties"]
    assert (listed["resolved"], listed["note"], listed["text"]) == (True, "It was.", "The port is free.")


@pytest.mark.parametrize(("said", "kept"), [(9, 5), (0, 1), (-3, 1), (4, 4)])
async def test_impact_stays_on_its_scale(aster: Live, model: ModelServer, said: int, kept: int) -> None:
    (noted,) = await flagged(aster, model, kind="unknown", text="x", impact=said)
    assert noted["impact"] == kept


@pytest.mark.parametrize(("said", "kept"), [(1.5, 1.0), (-1, 0.0), (0.25, 0.25)])
async def test_confidence_stays_on_its_scale(aster: Live, model: ModelServer, said: float, kept: float) -> None:
    (noted,) = await flagged(aster, model, kind="assumption", text="x", confidence=said)
    assert noted["confidence"] == kept


async def test_what_is_usual_is_not_left_open(aster: Live, model: ModelServer) -> None:
    (unknown,) = await flagged(aster, model, kind="unknown", text="x")
    assert (unknown["impact"], unknown["resolution"], unknown.get("confidence")) == (3, "ask_user", None)
    (assumed,) = await flagged(aster, model, kind="assumption", text="x")
    assert (assumed["impact"], assumed.get("resolution"), assumed["confidence"]) == (3, None, 0.5)


async def test_nothing_is_settled_that_was_never_noted(aster: Live, model: ModelServer) -> None:
    (noted,) = await flagged(aster, model, "other", kind="unknown", text="x")
    for item_id in ("unc_none", noted["item_id"]):
        assert await flagged(aster, model, kind="unknown", text="It was.", resolves=item_id) == []
    results = events(await aster.replay(task_id="t1"), "tool_result")
    assert [result["error"] for result in results] == ["invalid_input"] * 2
