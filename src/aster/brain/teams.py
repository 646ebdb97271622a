"""What a storage must be able to do for teams: changes that are made whole or not at all, and looking.

A change is a deed: it compares and sets while no other change of its team is under way, with the mail it sends and the
events that tell of it on the threads of everybody concerned. One that carries the key of a tool call comes to the same
when it is made again after a crash.
"""

from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias

from aster.brain.records import ThreadKey
from aster.contracts.events import Event, Phase
from aster.contracts.model import Contract
from aster.contracts.teams import LEAD, Mail, MailType, MemberDraft, Team, TeamMember, TeamStatus


class Seat(Contract):
    """A task's place in a team: who it is there (`lead`, or a member's name)."""

    team: Team
    name: str
    task_id: str
    role: str = ""

    @property
    def leads(self) -> bool:
        return self.name == LEAD

    @property
    def owner(self) -> str:
        """The name under which it has items on the board."""
        return self.task_id if self.leads else owner_of(self.team.team_id, self.name)


def owner_of(team_id: str, member: str) -> str:
    return f"{team_id}/{member}"


class NewTeam(Contract):
    """With a `title`, the task that leads is new and called so."""

    team_id: str
    name: str
    board: str
    lead_task_id: str
    budget_usd: float
    title: str = ""


class NewMember(Contract):
    """`task_id` is the task that will be its own, `body` what its turns are begun with."""

    draft: MemberDraft
    task_id: str
    body: bytes


class Spawn(Contract):
    """Make members, and with `team` the team itself; all of it or nothing. What a member is to begin with is claimed
    for it here."""

    user_id: str
    team_id: str
    members: tuple[NewMember, ...]
    sender: str
    most: int
    team: NewTeam | None = None
    call_key: str = ""


class Post(Contract):
    """Write to a member, to the lead or to `all`. With `most` no more than that may wait for a recipient, with
    `per_minute` nobody writes more than that. `asked`: a person has a part in it, so turns are counted anew."""

    user_id: str
    team_id: str
    sender: str
    recipient: str
    content: str
    type: MailType = "message"
    metadata: dict[str, Any] = {}
    call_key: str = ""
    most: int = 0
    per_minute: int = 0
    asked: bool = False


class Begin(Contract):
    """A member begins its turn number `begun`: these messages are told with it, this item is its own from now on."""

    user_id: str
    team_id: str
    name: str
    turn_id: str
    begun: int
    told_id: str
    seqs: tuple[int, ...] = ()
    item_id: str | None = None


class Told(Contract):
    """These messages stand on the recipient's thread as `told_id`, in this turn."""

    user_id: str
    team_id: str
    recipient: str
    seqs: tuple[int, ...]
    turn_id: str
    told_id: str


class Heard(Contract):
    """A model call that saw these messages was answered."""

    user_id: str
    team_id: str
    recipient: str
    seqs: tuple[int, ...]


class Ended(Contract):
    """A member's turn is over: what it said goes to the lead, and then that it is at rest; or why it failed."""

    user_id: str
    task_id: str
    turn_id: str
    phase: Phase
    stop_reason: str
    said: str
    cost_usd: float = 0.0


class AskToStop(Contract):
    """Nothing more is begun for these members (None: all of them, and the team is over)."""

    user_id: str
    team_id: str
    by: str
    name: str | None = None


class Stopped(Contract):
    """Members that were to stop and have no turn any more are stopped, and what they had is free again."""

    user_id: str
    team_id: str
    name: str


TeamOrder: TypeAlias = Spawn | Post | Begin | Told | Heard | Ended | AskToStop | Stopped


class TeamOutcome(Contract):
    """What a change was about, as it is now."""

    team: Team | None = None
    members: tuple[TeamMember, ...] = ()
    mail: tuple[Mail, ...] = ()


class TeamDeed(Protocol):
    """A change as a deed of a unit; once that is committed its outcome is known."""

    @property
    def outcome(self) -> TeamOutcome: ...
    def __call__(self, db: Any, /) -> Sequence[Event]: ...


class TeamStore(Protocol):
    def deed(self, order: TeamOrder) -> TeamDeed:
        """A change for the commit of somebody's unit, which has all threads of the team `beside` it."""
        ...

    async def do(self, order: TeamOrder, key: ThreadKey, beside: Sequence[ThreadKey]) -> TeamOutcome:
        """Make a change now, told on this thread and those. Raises `EngineError` when it cannot be made."""
        ...

    async def threads(self, user_id: str, team_id: str) -> tuple[ThreadKey, ...]:
        """The threads of everybody in a team, that of the lead first."""
        ...

    async def team(self, user_id: str, team_id: str) -> Team | None: ...
    async def teams(
        self, user_id: str, *, limit: int, before: str | None = None, status: TeamStatus | None = None
    ) -> list[Team]:
        """Newest first."""
        ...

    async def of_lead(self, key: ThreadKey) -> list[Team]:
        """The teams a task leads or has led, newest first."""
        ...

    async def on_board(self, user_id: str, board: str) -> list[Team]:
        """The teams that work on a board now."""
        ...

    async def seat(self, key: ThreadKey) -> Seat | None:
        """The place of a task in a team; of one that leads, in the team that is not over."""
        ...

    async def members(self, user_id: str, team_id: str) -> list[TeamMember]: ...
    async def unheard(self, user_id: str, team_id: str, recipient: str) -> list[Mail]:
        """What no model call has seen yet, in order."""
        ...

    async def mail(
        self, user_id: str, team_id: str, *, limit: int, before: int | None = None, name: str | None = None
    ) -> list[Mail]:
        """Newest first; with a name what that one wrote or got."""
        ...

    async def waiting(self, user_id: str, team_id: str) -> dict[str, int]:
        """How many messages wait for whom."""
        ...

    async def costs(self, user_id: str, team_id: str) -> dict[str, float]:
        """What each member has cost, with the agents it began."""
        ...

    async def left(self, before: int) -> list[tuple[str, str]]:
        """Teams for which something is to be done that nobody may be doing: whose, and which."""
        ...
