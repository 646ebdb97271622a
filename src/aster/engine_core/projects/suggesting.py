"""Suggesting a project in a task that has grown to where one may be worth it: once, to whoever reads the thread.

None is ever made for it. Whether a task has grown is only looked up where its conversation is long enough for it.
"""

from typing import Final

from aster.brain.projects import SuggestedRow
from aster.brain.records import Row
from aster.contracts.events import Event, Phase, PlanUpdate, ProjectUpdate
from aster.contracts.model import decode
from aster.engine_core.history import spoken
from aster.engine_core.services import Services
from aster.engine_core.turn import Turn
from aster.infra.clock import now_ms

TURNS: Final = 8
NODES: Final = 3
_WORDS: Final = (
    "This task has gone on for {turns} turns with a plan of {nodes} steps. A project would keep its steps, results and"
    " budget together: POST /projects, or ask for one."
)


async def suggestion(turn: Turn, services: Services, phase: Phase) -> tuple[list[Event], list[Row]]:
    """What is said at the end of a turn, and what is kept of that; nothing, as a rule."""
    request, settings = turn.state.request, services.settings
    between = request.parent is not None or request.replay is not None or request.advance is not None
    if phase is not Phase.COMPLETED or between or request.method or settings.project_tools == "off":
        return [], []
    compacted = any(message.digest is not None for message in turn.history)
    if not compacted and sum(spoken(message) for message in turn.history) + 1 < TURNS:
        return [], []
    await turn.flush()
    body = await services.brain.projects.suggestible(turn.key, TURNS)
    nodes = 0 if body is None else len(decode(body, PlanUpdate).steps)
    if nodes < NODES:
        return [], []
    said = ProjectUpdate(action="suggested", message=_WORDS.format(turns=TURNS, nodes=nodes))
    return [said], [SuggestedRow(suggested_at=now_ms())]
