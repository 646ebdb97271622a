"""A model that plays by the number in a message, and the ways tests ask for replays over HTTP."""

import re
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from aster.testing import RecordedCall, Reply, Text, ToolCall
from tests.live import Live

Plan: TypeAlias = Callable[[int], Sequence[ToolCall]]


def playing(plan: Plan, answer: str = "answer {}") -> Callable[[RecordedCall], Reply | None]:
    """Answers "turn 7" with the calls that the plan has for 7, one after the other, and then with words."""

    def play(call: RecordedCall) -> Reply | None:
        found = re.search(r"turn (\d+)$", call.text.strip())
        if found is None:
            return None
        number = int(found[1])
        calls = plan(number)
        return Reply([calls[call.round]]) if call.round < len(calls) else Reply([Text(answer.format(number))])

    return play


async def replayed(engine: Live, task_id: str = "t1", **body: Any) -> dict[str, Any]:
    """The report of a replay."""
    response = await engine.http.post(f"/tasks/{task_id}/replay", json=body)
    assert response.status_code == 200, response.text
    return response.json()


async def refused(engine: Live, task_id: str = "t1", **body: Any) -> tuple[int, str]:
    response = await engine.http.post(f"/tasks/{task_id}/replay", json=body)
    return response.status_code, response.json()["error"]


async def thread(engine: Live, task_id: str) -> list[dict[str, Any]]:
    """Everything on a thread."""
    return (await engine.http.get(f"/tasks/{task_id}/events", params={"limit": 1000})).json()["events"]
