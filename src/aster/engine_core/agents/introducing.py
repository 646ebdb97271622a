"""Telling a model of the agents that a user wrote down, to whom it may hand work like to those of the catalog.

The catalog's stand in the description of `spawn_agent`, the same for everybody. A user's own may change at any time, so
they are told at the end of the conversation and never put into its beginning: once, and again when they are others.
"""

import hashlib
from collections.abc import Sequence
from typing import Final

from aster.contracts.agents import Agent
from aster.engine_core.agents.profile import SPAWN
from aster.engine_core.agents.reach import permits
from aster.engine_core.services import Services
from aster.engine_core.telling import told
from aster.engine_core.turn import Turn
from aster.skills.skill import one_line

MOST_LISTED: Final = 30
SHOWN_CHARS: Final = 200
_MARK: Final = "msg-agents-"


async def tell(turn: Turn, services: Services) -> None:
    """Tell a turn that begins of the user's agents, if it does not know them as they are."""
    if turn.state.model_calls:
        return
    own = await services.agents.own(turn.key.user_id)
    if not own or not permits(turn.state.request.agent, SPAWN) or services.tools.registry.get(SPAWN) is None:
        return
    text = _words(own)
    message_id = f"{_MARK}{hashlib.sha256(text.encode()).hexdigest()[:16]}"
    newest = next((m.id for m in reversed(turn.seen) if m.id is not None and m.id.startswith(_MARK)), None)
    if newest != message_id:
        turn.write(told(text, message_id))


def _words(own: Sequence[Agent]) -> str:
    listed = "".join(f"\n- {agent.name}: {one_line(agent.description, SHOWN_CHARS)}" for agent in own[:MOST_LISTED])
    more = f"\nand {len(own) - MOST_LISTED} more" if len(own) > MOST_LISTED else ""
    return f"Beside those that {SPAWN} names, the person has these agents:{listed}{more}"
