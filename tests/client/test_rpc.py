"""Calls by name through the SDK."""

import pytest

from aster.client import AsterClient
from aster.contracts.errors import EngineError, ErrorCode


async def test_a_call_that_waits_is_answered_and_fetched(client: AsterClient, task: str) -> None:
    params = {"command": "echo done > log.txt && cat log.txt"}
    with pytest.raises(EngineError) as waits:
        await client.rpc("tool.bash", params, task_id=task, permission_mode="auto")
    assert waits.value.code is ErrorCode.HITL_REQUIRED
    details = waits.value.details or {}
    await client.respond("yes", request_id=details["request_id"])
    found = await client.rpc("tool.bash", params, turn_id=details["turn_id"])
    assert (found["ok"], found["task_id"]) == (True, task)
    assert "done" in found["output"]
