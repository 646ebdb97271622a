"""Who a member is when its turns begin: an agent with the authority of the turn that proposed the team, or of a message
of its user's to the task that leads, and never more. It begins no teams, and nobody joins by its word."""

from msgspec.structs import replace

from aster.brain.records import ThreadKey
from aster.brain.teams import NewMember
from aster.contracts.agents import Agent, Parent, Profile
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.model import encode
from aster.contracts.permissions import PermissionMode
from aster.contracts.teams import MemberDraft
from aster.contracts.turn import TurnRequest
from aster.engine_core.agents.profile import chain_of, child_profile, narrower
from aster.engine_core.orders import Order
from aster.engine_core.services import Services
from aster.infra.ids import derived_id, new_id
from aster.utility_directory import spawn_team
from aster.work.teams import words


class Cast:
    """The members of one team, made for the task `lead_task_id` as a turn of it was asked for. `seed` names what makes
    them, so that the same call made again makes the same ones."""

    def __init__(
        self,
        services: Services,
        user_id: str,
        request: TurnRequest,
        mode: PermissionMode,
        *,
        team_id: str,
        team: str,
        lead_task_id: str,
        turn_id: str = "",
        tool_call_id: str = "",
        seed: str = "",
    ) -> None:
        self._services = services
        self._user_id = user_id
        self._request = request
        self._mode: PermissionMode = mode
        self._team_id, self._team = team_id, team
        self._lead = lead_task_id
        self._turn_id, self._call = turn_id, tool_call_id
        self._seed = seed

    async def member(self, draft: MemberDraft) -> NewMember:
        """A member with its own task; `EngineError` when there is no such agent, or its item cannot be worked on."""
        services, request = self._services, self._request
        if draft.item_id:
            home = ThreadKey(self._user_id, self._lead)
            await services.worktrees.check(self._user_id, draft.item_id, home)
        kept = await services.agents.find(self._user_id, draft.agent) if draft.agent else None
        agent = None if kept is None else kept.agent
        task_id = derived_id("agent", self._seed, draft.name) if self._seed else new_id("agent")
        order = Order(
            task_id=task_id,
            message="",
            direct=True,
            model=(None if kept is None else services.agents.model_of(kept)) or request.model,
            permission_mode=narrower(self._mode, agent and agent.permission_mode),
            unattended=request.unattended,
            agent=draft.agent or None,
            profile=self._profile(draft, agent),
            parent=self._parent(draft.name),
        )
        return NewMember(draft=draft, task_id=task_id, body=encode(order))

    def _parent(self, name: str) -> Parent:
        return Parent(
            task_id=self._lead,
            turn_id=self._turn_id,
            tool_call_id=self._call,
            home_task_id=self._lead,
            root_turn_id="",
            depth=1,
            agents=chain_of(self._request),
            background=True,
            team_id=self._team_id,
            member=name,
        )

    def _profile(self, draft: MemberDraft, agent: Agent | None) -> Profile:
        profile = child_profile(agent, self._request, self._parent(draft.name), self._services.settings)
        own = "" if agent is None else f"{agent.system_prompt}\n\n"
        return replace(
            profile,
            name=draft.name,
            label=f"{profile.label.rpartition('/')[0]}/{draft.name}",
            prompt=f"{own}{words.identity(draft.name, draft.role, self._team)}",
            without=(*profile.without, spawn_team.NAME),
        )


def refuse_inner(request: TurnRequest) -> None:
    """Only the agent that answers a person leads a team, and only while one is there to say yes."""
    if request.unattended:
        message = "Nobody is there to confirm a team. Do the work yourself, or with spawn_agent."
        raise EngineError(ErrorCode.PERMISSION_DENIED, message)
    if request.parent is not None:
        message = "Only the agent that answers the person makes teams: tell it what is wanted."
        raise EngineError(ErrorCode.PERMISSION_DENIED, message)
