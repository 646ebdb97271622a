"""What a turn that begins another agent has that one's turn begun with: whom it works for, and the authority of the
turn itself, never more."""

from aster.contracts.agents import Parent, Profile
from aster.contracts.permissions import PermissionMode
from aster.engine_core.agents.allowance import granted
from aster.engine_core.agents.profile import chain_of
from aster.engine_core.orders import Order
from aster.engine_core.turn import Turn
from aster.infra.ids import new_id


def parent_of(turn: Turn, tool_call_id: str, *, background: bool, wake: bool = False) -> Parent:
    """Whom an agent works for that this call of the turn begins."""
    request = turn.state.request
    above = request.parent
    return Parent(
        task_id=turn.key.task_id,
        turn_id=turn.turn_id,
        tool_call_id=tool_call_id,
        home_task_id=turn.home.task_id,
        root_turn_id=turn.turn_id if above is None else above.root_turn_id,
        depth=1 if above is None else above.depth + 1,
        agents=chain_of(request),
        background=background,
        wake=wake,
        team_id="" if above is None else above.team_id,
        worktree="" if turn.tree is None else turn.tree.worktree_id,
    )


def ordered(
    turn: Turn,
    parent: Parent,
    profile: Profile,
    message: str,
    mode: PermissionMode,
    model: str | None = None,
    agent: str | None = None,
) -> Order:
    """The order that the agent's turn is begun with."""
    request = turn.state.request
    return Order(
        task_id=new_id("agent"),
        message=message,
        direct=True,
        model=model or request.model,
        permission_mode=mode,
        unattended=request.unattended,
        agent=agent,
        profile=profile,
        parent=parent,
        budget=granted(turn.state),
    )
