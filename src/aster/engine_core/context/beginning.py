"""What a turn's prompts are built on, found once when it begins: the workspace's instructions, the prompt before.

A file that changes while the turn runs changes nothing in it; the next turn begins with the new text.
"""

from aster.engine_core.context import agents_file
from aster.engine_core.context.layers import workspace_layer
from aster.engine_core.context.skill_layers import skill_layers
from aster.engine_core.services import Services
from aster.engine_core.turn import Turn


async def begin(turn: Turn, services: Services) -> None:
    """Give a turn what its prompts are built on."""
    state, settings = turn.state, services.settings
    if settings.roots and settings.workspace_instructions:
        workspace = await services.workspaces.of(*turn.home)
        notes = await services.sandbox.files.call(agents_file.read, workspace, workspace.roots, services.secrets)
        turn.notes = tuple(workspace_layer(note) for note in notes)
    turn.skills = await skill_layers(turn, services)
    if state.follows_turn_id is not None or state.model_calls:
        turn.prompt = await services.prompts.before(turn.key, state)
        turn.anchor = turn.prompt.anchor if turn.prompt is not None else None
