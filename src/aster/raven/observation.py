"""An observation: something an operator may want to find later, as the engine writes it into the brain.

It is made in one place, with the ids of the work it happened in and without any secret.
"""

from typing import Any, Literal, TypeAlias

from aster.contracts.model import Contract
from aster.infra.clock import now_ms
from aster.infra.ids import new_id
from aster.infra.logging import bound, plain
from aster.infra.secrets import PROCESS

Level: TypeAlias = Literal["debug", "info", "warning", "error"]


class Observation(Contract):
    """`kind` is a machine word (`error`, `slow_tool`, `permission_denied`, `migration`, `catalog_reload` …)."""

    event_id: str
    kind: str
    level: Level
    message: str
    created_at: int
    user_id: str = ""
    task_id: str | None = None
    turn_id: str | None = None
    request_id: str | None = None
    data: dict[str, Any] | None = None


def observe_now(kind: str, level: Level, message: str, data: dict[str, Any]) -> Observation:
    """An observation of this moment, in the context it is called from."""
    ids = bound()
    return Observation(
        event_id=new_id("obs"),
        kind=kind,
        level=level,
        message=PROCESS.clean(message, "observation", shapes=True),
        created_at=now_ms(),
        user_id=ids.get("user_id", ""),
        task_id=ids.get("task_id"),
        turn_id=ids.get("turn_id"),
        request_id=ids.get("request_id"),
        data=PROCESS.clean_data(plain(data), "observation", shapes=True) if data else None,
    )
