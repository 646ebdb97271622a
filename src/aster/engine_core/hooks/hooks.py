"""Asking all hooks of an event, in order, and what they come to together. A failing hook never ends a turn.

The first that blocks has the last word; a rewritten input is what the next hook sees. What each did is an event on
the thread, and the fold remembers what must not be asked twice.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from aster.contracts.events import HookRan
from aster.contracts.permissions import Behavior
from aster.engine_core.hooks.callers import call
from aster.engine_core.hooks.reply import Reply
from aster.engine_core.hooks.settings import Hook, HookEvent, load
from aster.infra.settings import Settings

_STRICTER: dict[Behavior, int] = {"allow": 0, "ask": 1, "deny": 2}


@dataclass(slots=True)
class Heard:
    """What the hooks of one event came to; `ran` is for the thread."""

    ran: list[HookRan] = field(default_factory=list[HookRan])
    blocked: str | None = None
    updated_input: dict[str, Any] | None = None
    permission: Behavior | None = None
    stop: bool = False

    @property
    def context(self) -> list[str]:
        return [ran.context for ran in self.ran if ran.context]


class Hooks:
    """The hooks in force. Without any for an event, asking costs nothing."""

    def __init__(self, settings: Settings) -> None:
        self._hooks = load(settings)
        self._directory = settings.hooks_path.resolve().parent if settings.hooks_path else Path("/")

    def __contains__(self, event: HookEvent) -> bool:
        return event in self._hooks

    async def ask(self, event: HookEvent, payload: Mapping[str, Any], tool_call_id: str | None = None) -> Heard:
        """Ask every hook of this event whose matcher fits."""
        heard = Heard()
        told: dict[str, Any] = {"hook_event_name": event.value, **payload}
        for hook in self._hooks.get(event, ()):
            if not hook.fits(told.get("tool_name")):
                continue
            began = time.perf_counter()
            reply = _strict(hook, await call(hook, told, self._directory))
            heard.ran.append(_ran(hook, event, told, reply, tool_call_id, time.perf_counter() - began))
            if reply.updated_input is not None:
                told = {**told, "tool_input": reply.updated_input}
                heard.updated_input = reply.updated_input
            heard.stop = heard.stop or reply.stop
            heard.permission = _stricter(heard.permission, reply.permission)
            if reply.blocked is not None:
                heard.blocked = reply.blocked
                break
        return heard


def _strict(hook: Hook, reply: Reply) -> Reply:
    """A hook that must not fail blocks when it does."""
    if reply.outcome not in ("error", "timeout") or hook.on_error != "block":
        return reply
    return msgspec.structs.replace(reply, blocked=f"A hook that has to pass failed: {reply.message}")


def _stricter(first: Behavior | None, second: Behavior | None) -> Behavior | None:
    if first is None or second is None:
        return first or second
    return first if _STRICTER[first] >= _STRICTER[second] else second


def _ran(
    hook: Hook, event: HookEvent, told: Mapping[str, Any], reply: Reply, tool_call_id: str | None, seconds: float
) -> HookRan:
    return HookRan(
        hook=hook.title,
        hook_event=event.value,
        outcome=reply.outcome,
        tool=told.get("tool_name"),
        tool_call_id=tool_call_id,
        message=reply.blocked or reply.message,
        context=reply.context,
        updated_input=reply.updated_input,
        blocked=reply.blocked is not None,
        permission=reply.permission,
        stop=reply.stop,
        duration_ms=round(seconds * 1000),
    )
