"""An aside: a model call that a turn waits for and that is none of its steps, such as one that plans or verifies.

It is counted on the turn's thread under its purpose and paid from the turn's budgets. No person is asked for its
money and no turn ends by its failure: whoever makes one goes on without it.
"""

from collections.abc import Callable

import msgspec

from aster.contracts.events import Usage
from aster.contracts.events.money import Purpose
from aster.contracts.llm import LLMResponse, ModelRequest
from aster.engine_core import errands
from aster.engine_core.budget_gate import turn_spent
from aster.engine_core.services import Services
from aster.engine_core.turn import Turn


async def aside(turn: Turn, services: Services, request: ModelRequest, purpose: Purpose) -> LLMResponse:
    """Make the call; raises `EngineError` when it fails or when its money is not there."""

    def count(used: Usage, release: Callable[[], None]) -> None:
        turn.write(msgspec.structs.replace(used, step=turn.state.step, purpose=purpose))
        turn.when_durable(release)

    if services.budgets.lines(turn.home):
        await turn.flush()
    request = msgspec.structs.replace(request, request_id=turn.request_id)
    return await errands.made(services, turn.home, request, count, turn_usd=await turn_spent(turn))
