"""What a hook said, however it was asked: one shape, read from an exit status and JSON, or from JSON alone."""

from typing import Any, Literal, TypeAlias

import msgspec

from aster.contracts.permissions import Behavior

Outcome: TypeAlias = Literal["success", "blocked", "error", "timeout"]

BLOCKED_STATUS = 2
MOST_CHARS = 10_000


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """`blocked` holds the reason. `permission` is the hook's own word on a call, which no denial yields to."""

    outcome: Outcome = "success"
    message: str | None = None
    blocked: str | None = None
    updated_input: dict[str, Any] | None = None
    context: str | None = None
    permission: Behavior | None = None
    stop: bool = False


class _Said(msgspec.Struct, rename="camel"):
    """The JSON a hook may answer with."""

    continue_: bool = msgspec.field(default=True, name="continue")
    stop_reason: str | None = None
    decision: Literal["approve", "allow", "block", "deny", "ask"] | None = None
    reason: str | None = None
    updated_input: dict[str, Any] | None = None
    additional_context: str | None = None
    permission_decision: Behavior | None = None


def from_exit(status: int, stdout: str, stderr: str) -> Reply:
    """A command's word: 0 goes on (JSON on its output may say more), 2 blocks, anything else is its own error."""
    if status == BLOCKED_STATUS:
        return Reply(outcome="blocked", blocked=_short(stderr) or "A hook refused this.")
    if status != 0:
        return failed(f"exit status {status}: {_short(stderr) or _short(stdout) or 'no output'}")
    return from_json(stdout) if stdout.lstrip().startswith("{") else Reply()


def from_json(text: str | bytes) -> Reply:
    """A JSON answer; one that cannot be read is an error of the hook, not of the turn."""
    if not text.strip():
        return Reply()
    try:
        said = msgspec.json.decode(text, type=_Said)
    except msgspec.DecodeError as error:
        return failed(f"its answer cannot be read: {error}")
    return _reply(said)


def from_value(value: object) -> Reply:
    """What a Python function returned: nothing, or the same as JSON would say."""
    if value is None:
        return Reply()
    try:
        return _reply(msgspec.convert(value, _Said))
    except msgspec.ValidationError as error:
        return failed(f"its answer cannot be read: {error}")


def failed(message: str, outcome: Outcome = "error") -> Reply:
    return Reply(outcome=outcome, message=_short(message))


def _reply(said: _Said) -> Reply:
    reason = _short(said.reason or "")
    blocked = (reason or "A hook refused this.") if said.decision in ("block", "deny") else None
    spoken: dict[str, Behavior] = {"approve": "allow", "allow": "allow", "ask": "ask"}
    return Reply(
        outcome="success" if blocked is None else "blocked",
        message=reason or None,
        blocked=blocked,
        updated_input=said.updated_input,
        context=_short(said.additional_context or "") or None,
        permission=said.permission_decision or spoken.get(said.decision or ""),
        stop=not said.continue_,
    )


def _short(text: str) -> str:
    return text.strip()[:MOST_CHARS]
