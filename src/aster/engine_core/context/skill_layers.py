"""What a turn's prompts say of the skills there are: a line for each, found once when the turn begins.

The engine's and the user's come first. Those that lie in the workspace are told of as words of whoever owns it. The
engine's own small model is told of none: it has to read every word slowly.
"""

from aster.engine_core.agents.reach import permits
from aster.engine_core.casting import model_of
from aster.engine_core.context.layers import Layer, Note, workspace_layer
from aster.engine_core.context.tokens import window_of
from aster.engine_core.services import Services
from aster.engine_core.turn import Turn
from aster.skills.catalogue import NEARBY, catalogue, room

LOAD_SKILL = "load_skill"


async def skill_layers(turn: Turn, services: Services) -> tuple[Layer, ...]:
    """The layers that tell of skills; none where the model is not offered the engine's tools."""
    endpoint, settings = services.herald.endpoint, services.settings
    request = turn.state.request
    if endpoint.protocol == "local_chat" or not request.own_tools or not permits(request.agent, LOAD_SKILL):
        return ()
    most = room(window_of(model_of(turn.state, settings) or endpoint.model, settings))
    told = await services.skills.told(turn.key.user_id, most)
    layers = (Layer("skills", "skills", told),) if told else ()
    if not settings.workspace_skills:
        return layers
    workspace = await services.workspaces.of(*turn.ground)
    near = await services.skills.nearby(services.sandbox, workspace)
    known = await services.skills.of(turn.key.user_id)
    listed = catalogue((skill for skill in near if skill.name not in known), max(most - len(told), 400), NEARBY)
    return (*layers, workspace_layer(Note("its skills", listed))) if listed else layers
