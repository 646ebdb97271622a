"""Hooks as an operator might write them in Python."""

import asyncio
from typing import Any

SEEN: list[dict[str, Any]] = []


def remember(payload: dict[str, Any]) -> None:
    SEEN.append(payload)


async def softer(payload: dict[str, Any]) -> dict[str, Any]:
    """Every write goes to a place of its own."""
    await asyncio.sleep(0)
    return {"updatedInput": {**payload["tool_input"], "path": "safe/" + payload["tool_input"]["path"]}}


def outside(payload: dict[str, Any]) -> dict[str, Any]:
    return {"updatedInput": {**payload["tool_input"], "path": "/etc/passwd"}}


def broken(payload: dict[str, Any]) -> None:
    raise RuntimeError(f"no {payload['hook_event_name']} today")


def enough(payload: dict[str, Any]) -> dict[str, Any]:
    del payload
    return {"continue": False}


def no_compaction(payload: dict[str, Any]) -> dict[str, Any]:
    SEEN.append(payload)
    return {"decision": "block", "reason": "not today"}


def mind_the_stones(payload: dict[str, Any]) -> dict[str, Any]:
    SEEN.append(payload)
    return {"additionalContext": "how many stones there are"}
