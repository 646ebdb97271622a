"""Permissions: what holds, what would happen with a call, and the grants a user gives and takes back.

A user sees the operator's rules and changes only grants of their own; no grant is stronger than a denial.
"""

from typing import Annotated, Any, Literal, Self

from fastapi import APIRouter, Path, Response
from pydantic import AfterValidator, BaseModel, Field, model_validator
from pydantic_core import PydanticCustomError

from aster.brain.grants import GrantRow
from aster.brain.records import ThreadKey
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.model import to_builtins
from aster.contracts.permissions import Behavior, GrantScope, PermissionMode
from aster.contracts.tools import ToolCall
from aster.engine_core.backtest import backtest
from aster.engine_core.permissions import MAIN_AGENT
from aster.infra.clock import iso_ms, now_ms
from aster.infra.ids import new_id
from aster.sandbox.rules import Rule
from aster.server.bodies import LONGEST_GRANT_SECONDS, OtherId, TaskId, printable, warnings
from aster.server.errors import refusals
from aster.server.media import JsonObject, Part, Text
from aster.server.visit import KEYED, Serving, Visit, Visiting

router = APIRouter(prefix="/permissions", tags=["permissions"], dependencies=KEYED)

ToolName = Annotated[Text, Field(min_length=1, max_length=128), AfterValidator(printable)]
Pattern = Annotated[
    Text,
    Field(
        min_length=1,
        max_length=2000,
        description="A shell pattern over the command, the path, the address or the whole input. To allow, it has"
        " to fit one plain command, or be the very text.",
    ),
]
GrantId = Annotated[str, Path(max_length=64)]


class RuleAnswer(BaseModel):
    """A rule of the operator."""

    id: str
    behavior: Behavior
    tool: str
    pattern: str
    reason: str
    every_time: bool = Field(description="No grant spares the question.")


class Grant(BaseModel):
    grant_id: str
    behavior: Behavior
    tool: str
    pattern: str
    scope: GrantScope
    task_id: str | None
    agent: str | None
    request_id: str | None = Field(description="The question it was the answer to.")
    created_by: str
    created_at: str
    expires_at: str | None
    uses: int = Field(description="Calls that ran because of it.")
    last_used_at: str | None

    @classmethod
    def of(cls, row: GrantRow) -> "Grant":
        fields: dict[str, Any] = {name: getattr(row, name) for name in row.__struct_fields__}
        times = ("created_at", "expires_at", "last_used_at")
        fields |= {name: iso_ms(fields[name]) if fields[name] is not None else None for name in times}
        return cls.model_validate(fields | {"task_id": row.task_id or None, "agent": row.agent or None})


class InForce(BaseModel):
    """What decides on calls, strongest first: denials, the mode, rules that ask, grants, rules that allow."""

    mode: PermissionMode = Field(description="Of turns that do not say.")
    bypass_allowed: bool
    unattended_policy: Literal["park", "deny"]
    rules: list[RuleAnswer] = Field(description="The operator's.")
    grants: list[Grant] = Field(description="The caller's own, newest first.")


class GrantBody(Part):
    """A grant to store."""

    tool: ToolName
    pattern: Pattern = "*"
    behavior: Behavior = "allow"
    scope: GrantScope = "everywhere"
    task_id: TaskId | None = Field(None, description="The task, with scope `task`.")
    agent: OtherId | None = Field(
        None, description="The agent, with scope `agent`; left out, the usual one. Of a sub-agent: `main/coder`."
    )
    expires_in_seconds: int | None = Field(None, ge=1, le=LONGEST_GRANT_SECONDS)

    @model_validator(mode="after")
    def _scoped(self) -> Self:
        if (self.scope == "task") != (self.task_id is not None):
            raise PydanticCustomError("scoped", "goes with scope `task`, and only with it", {"field": "task_id"})
        return self

    def row(self, visit: Visit) -> GrantRow:
        now = now_ms()
        return GrantRow(
            grant_id=new_id("grant"),
            user_id=visit.user_id,
            tool=self.tool,
            pattern=self.pattern,
            behavior=self.behavior,
            scope=self.scope,
            task_id=self.task_id or "",
            agent=self.agent or MAIN_AGENT if self.scope == "agent" else "",
            created_by=visit.caller.key or visit.user_id,
            created_at=now,
            expires_at=None if self.expires_in_seconds is None else now + self.expires_in_seconds * 1000,
        )


class TestBody(Part):
    """A call to think through."""

    tool: ToolName
    input: JsonObject = Field(default_factory=dict[str, Any])
    task_id: TaskId | None = Field(None, description="Grants for this task count too.")
    mode: PermissionMode | None = Field(None, description="Left out, it is the engine's usual one.")


class Offer(BaseModel):
    tool: str
    pattern: str


class DecisionAnswer(BaseModel):
    behavior: Behavior
    reason: str
    effects: list[str] = Field(description="What the call would do, as far as it is worth asking about.")
    decided_by: str = Field(description="`judgement`, `mode:…`, `rule:…`, `grant:…` or `validation`.")
    offer: Offer | None = Field(description="What an `always` would store, if it is a question.")


class BacktestBody(Part):
    """A rule to try."""

    tool: ToolName = "*"
    pattern: Pattern = "*"
    behavior: Behavior = "allow"


class PastCallAnswer(BaseModel):
    task_id: str
    seq: int
    tool: str
    input: dict[str, Any]
    then: Literal["ran", "approved", "denied", "unanswered"]


class ExampleAnswer(BaseModel):
    call: PastCallAnswer
    now: Behavior = Field(description="What happens with it without the rule.")
    proposed: Behavior = Field(description="What would happen with it.")


class BacktestAnswer(BaseModel):
    """What a rule would have meant for recorded calls."""

    calls: int = Field(description="How many were looked at, newest task first.")
    matched: int = Field(description="How many of them the rule is about; what follows counts those.")
    changed: int = Field(description="How many are decided otherwise with the rule than without.")
    would: dict[Behavior, int]
    then: dict[Literal["ran", "approved", "denied", "unanswered"], int] = Field(
        description="What became of them: run without a question, approved or denied by a person, never answered."
    )
    would_allow_denied: int = Field(description="The rule allows them, a person had denied them.")
    would_deny_approved: int = Field(description="The rule denies them, they had been run or approved.")
    examples: list[ExampleAnswer]
    complete: bool = Field(description="Whether every recorded call was looked at.")


class Revoked(BaseModel):
    status: Literal["revoked"] = "revoked"
    grant_id: str


@router.get("", summary="List what decides on calls", response_model=InForce, responses=refusals())
async def permissions(engine: Serving, visit: Visiting) -> InForce:
    """The mode of turns that do not say, the operator's rules, and the caller's grants."""
    settings = engine.settings
    grants = await engine.brain.grants(visit.user_id)
    return InForce(
        mode=settings.permission_mode,
        bypass_allowed=settings.permission_bypass_allowed,
        unattended_policy=settings.unattended_policy,
        rules=[_rule(rule) for rule in engine.permissions.rules],
        grants=[Grant.of(row) for row in grants],
    )


@router.post(
    "",
    summary="Give a permission, or refuse it, for calls to come",
    response_model=Grant,
    responses=refusals(
        ErrorCode.MALFORMED_REQUEST,
        ErrorCode.INVALID_REQUEST,
        ErrorCode.UNSUPPORTED_MEDIA_TYPE,
        ErrorCode.PAYLOAD_TOO_LARGE,
        ErrorCode.STORAGE_UNAVAILABLE,
    ),
)
async def grant(body: GrantBody, engine: Serving, visit: Visiting, response: Response) -> Grant:
    """It holds from the next call on, in every task it reaches."""
    row = body.row(visit)
    await engine.permissions.grant(row)
    response.headers.update(warnings(body))
    return Grant.of(row)


@router.delete(
    "/{grant_id}",
    summary="Revoke a grant",
    response_model=Revoked,
    responses=refusals(ErrorCode.NOT_FOUND, ErrorCode.INVALID_REQUEST),
)
async def revoke(grant_id: GrantId, engine: Serving, visit: Visiting) -> Revoked:
    """It no longer holds from the next call on."""
    if not await engine.brain.drop_grant(visit.user_id, grant_id):
        raise EngineError(ErrorCode.NOT_FOUND, f"There is no grant {grant_id!r}. GET /permissions lists them.")
    return Revoked(grant_id=grant_id)


@router.post(
    "/test",
    summary="What would happen with this call?",
    response_model=DecisionAnswer,
    responses=refusals(
        ErrorCode.MALFORMED_REQUEST,
        ErrorCode.INVALID_REQUEST,
        ErrorCode.UNSUPPORTED_MEDIA_TYPE,
        ErrorCode.PAYLOAD_TOO_LARGE,
    ),
)
async def test(body: TestBody, engine: Serving, visit: Visiting, response: Response) -> DecisionAnswer:
    """Nothing is run: the decision, the reason, and which rule, grant, mode or judgement it comes from."""
    key = ThreadKey(visit.user_id, body.task_id or "")
    call = ToolCall(id="test", name=body.tool, input=body.input)
    decision, offered = await engine.permissions.test(key, call, body.mode or engine.settings.permission_mode)
    response.headers.update(warnings(body))
    return DecisionAnswer(
        behavior=decision.behavior,
        reason=decision.reason,
        effects=list(decision.effects),
        decided_by=decision.decided_by,
        offer=None if offered is None else Offer(tool=offered.tool, pattern=offered.pattern),
    )


@router.post(
    "/backtest",
    summary="What would this rule have meant so far?",
    response_model=BacktestAnswer,
    responses=refusals(
        ErrorCode.MALFORMED_REQUEST,
        ErrorCode.INVALID_REQUEST,
        ErrorCode.UNSUPPORTED_MEDIA_TYPE,
        ErrorCode.PAYLOAD_TOO_LARGE,
    ),
)
async def backtest_rule(body: BacktestBody, engine: Serving, visit: Visiting, response: Response) -> BacktestAnswer:
    """The rule against the caller's own recorded calls, and what people had said to them."""
    rule = Rule(behavior=body.behavior, tool=body.tool, pattern=body.pattern, source="grant", id="proposed")
    found = await backtest(engine.permissions, engine.brain, visit.user_id, rule)
    response.headers.update(warnings(body))
    return BacktestAnswer.model_validate(to_builtins(found))


def _rule(rule: Rule) -> RuleAnswer:
    return RuleAnswer(
        id=rule.id,
        behavior=rule.behavior,
        tool=rule.tool,
        pattern=rule.pattern,
        reason=rule.reason,
        every_time=rule.every_time,
    )
