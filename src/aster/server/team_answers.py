"""Teams as a client sees them: what may be asked for, members with what they are at, and the mail between them."""

from typing import Annotated, Any

from pydantic import BaseModel, Field

from aster.contracts.teams import Mail, MailType, MemberDraft, MemberStatus, Team, TeamMember, TeamStatus
from aster.engine_core.teams.desk import Sheet
from aster.infra.clock import iso_ms
from aster.server.bodies import OtherId
from aster.server.media import Part, Text
from aster.work.teams.rules import MAIL_CHARS

Budget = Annotated[float, Field(gt=0, le=1_000_000)]


class MemberPart(Part):
    """A member that is to be made."""

    name: Text = Field(
        min_length=1, max_length=64, description="Letters, digits, `_` and `-`; case makes no difference."
    )
    prompt: Text = Field(min_length=1, max_length=MAIL_CHARS, description="Its first message.")
    role: Text = Field("", max_length=64, description="It takes items of this role, or of none, by itself.")
    agent: Text = Field("", max_length=64, description="The agent it is; left out, the usual one.")
    item_id: OtherId | None = Field(None, description="The work it begins with; claimed before it begins.")
    require_plan: bool = Field(False, description="It may only look until its plan is approved.")

    def draft(self) -> MemberDraft:
        return MemberDraft(
            name=self.name,
            prompt=self.prompt,
            role=self.role,
            agent=self.agent,
            item_id=self.item_id,
            require_plan=self.require_plan,
        )


class MembersBody(Part):
    members: list[MemberPart] = Field(min_length=1, max_length=50, description="All of them begin, or none.")


class TeamBody(MembersBody):
    task_id: OtherId | None = Field(None, description="The task that leads; left out, a new one.")
    name: Text | None = Field(None, max_length=64, description="What the team is called.")
    board: OtherId | None = Field(None, description="The board it works on; left out, one of its own.")
    budget_usd: Budget | None = Field(None, description="What the members may spend together.")


class LetterBody(Part):
    to: Text = Field(min_length=1, max_length=64, description="A member's name, `lead`, or `all` members.")
    content: Text = Field(min_length=1, max_length=MAIL_CHARS)


class MemberAnswer(BaseModel):
    """`turns` since a person last wrote to it; `item_id` is what it is at, `unread` waits for it."""

    name: str
    role: str
    agent: str
    task_id: str
    status: MemberStatus
    stop: str
    reason: str
    require_plan: bool
    turns: int
    turn_id: str
    item_id: str | None
    cost_usd: float
    unread: int

    @classmethod
    def of(cls, member: TeamMember, sheet: Sheet) -> "MemberAnswer":
        return cls(
            name=member.name,
            role=member.role,
            agent=member.agent,
            task_id=member.task_id,
            status=member.status,
            stop=member.stop,
            reason=member.reason,
            require_plan=member.require_plan,
            turns=member.turns,
            turn_id=member.turn_id,
            item_id=sheet.items.get(member.name),
            cost_usd=sheet.costs.get(member.name, 0.0),
            unread=sheet.waiting.get(member.name, 0),
        )


class TeamItems(BaseModel):
    pending: int
    in_progress: int
    completed: int
    ready: int


class TeamLine(BaseModel):
    """A team in a list."""

    team_id: str
    name: str
    board: str
    lead_task_id: str
    status: TeamStatus
    budget_usd: float
    created_at: str
    ended_at: str | None

    @classmethod
    def of(cls, team: Team) -> "TeamLine":
        return cls(
            team_id=team.team_id,
            name=team.name,
            board=team.board,
            lead_task_id=team.lead_task_id,
            status=team.status,
            budget_usd=team.budget_usd,
            created_at=iso_ms(team.created_at),
            ended_at=None if team.ended_at is None else iso_ms(team.ended_at),
        )


class TeamSheet(TeamLine):
    """A team with its members, how much is on its board, and what waits for the lead."""

    cost_usd: float
    members: list[MemberAnswer]
    items: TeamItems
    unread: int

    @classmethod
    def shown(cls, sheet: Sheet) -> "TeamSheet":
        board = sheet.board
        return cls(
            **TeamLine.of(sheet.team).model_dump(),
            cost_usd=sum(sheet.costs.values()),
            members=[MemberAnswer.of(member, sheet) for member in sheet.members],
            items=TeamItems(
                pending=board.pending, in_progress=board.in_progress, completed=board.completed, ready=board.ready
            ),
            unread=sheet.waiting.get("lead", 0),
        )


class TeamPage(BaseModel):
    """`next` asks for the page after this one (`before`); None on the last."""

    teams: list[TeamLine]
    next: str | None = None


class LetterAnswer(BaseModel):
    """A message. `told_at`: it stands on its recipient's thread; `acked_at`: a model call that saw it was answered."""

    number: int
    recipient: str
    seq: int
    message_id: str
    sender: str
    type: MailType
    content: str
    metadata: dict[str, Any]
    created_at: str
    turn_id: str
    told_at: str | None
    acked_at: str | None

    @classmethod
    def of(cls, mail: Mail) -> "LetterAnswer":
        return cls(
            number=mail.number,
            recipient=mail.recipient,
            seq=mail.seq,
            message_id=mail.message_id,
            sender=mail.sender,
            type=mail.type,
            content=mail.content,
            metadata=mail.metadata,
            created_at=iso_ms(mail.created_at),
            turn_id=mail.turn_id,
            told_at=None if mail.told_at is None else iso_ms(mail.told_at),
            acked_at=None if mail.acked_at is None else iso_ms(mail.acked_at),
        )


class LettersAnswer(BaseModel):
    mail: list[LetterAnswer]


class LetterPage(LettersAnswer):
    """Newest first; `next` asks for the page after this one (`before`), None on the last."""

    next: int | None = None
