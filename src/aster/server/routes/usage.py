"""Money: what was used and what it cost, and how much may be spent.

A user sees and limits what is theirs; the operator may name any user. Amounts are those of the moment a call was
made; a call whose price was not known then has no cost, ever.
"""

from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Literal
from urllib.parse import unquote

from fastapi import APIRouter, Path, Query, Response
from pydantic import AfterValidator, BaseModel, BeforeValidator, Field

from aster.brain.records import BudgetRow, ThreadKey, UsageGroup, UsageSlice, UsageSum
from aster.contracts.errors import EngineError, ErrorCode
from aster.engine_core.engine import Engine
from aster.infra.clock import iso_ms, now_ms
from aster.server.bodies import TASK_ID_CHARS, TaskId, printable, warnings
from aster.server.errors import refusals
from aster.server.media import Part
from aster.server.visit import KEYED, Serving, Visit, Visiting

router = APIRouter(prefix="/usage", tags=["usage"], dependencies=KEYED)

EVERYBODY = "*"
TASK = "task:"

User = Annotated[str | None, Query(max_length=128, description="Another user; for the operator alone.")]
Scope = Annotated[
    str,
    Path(
        max_length=3 * (TASK_ID_CHARS + len(TASK)),
        description="`user`, for each day (UTC), or `task:` and a task's id, percent-encoded.",
    ),
    BeforeValidator(unquote),
    AfterValidator(printable),
]


class Amounts(BaseModel):
    """Model calls added up. Tokens read from or written to a cache are part of `input_tokens`."""

    calls: int
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    cost_usd: float | None = Field(description="The sum of the known costs; null when none is known.")
    unpriced_calls: int = Field(description="Calls of models whose price was not known; they are in no cost.")


class UsageRow(Amounts):
    key: str = Field(description="The day, model, user, task or turn.")
    user_id: str | None
    task_id: str | None
    turn_id: str | None
    first_at: str
    last_at: str

    @classmethod
    def of(cls, found: UsageSum) -> "UsageRow":
        times = {"first_at": iso_ms(found.first_at or 0), "last_at": iso_ms(found.last_at or 0)}
        return cls.model_validate(_fields(found) | times)


class UsageReport(BaseModel):
    group: UsageGroup
    user: str = Field(description="Whose usage it is; `*` is everybody's.")
    rows: list[UsageRow] = Field(description="Newest first, at most `limit`.")
    total: Amounts = Field(description="Of all there is, also beyond `limit`.")


class BudgetBody(Part):
    limit_usd: float | None = Field(
        ge=0, le=1e12, allow_inf_nan=False, description="The most to spend; null, for the operator alone, lifts it."
    )


class Budget(BaseModel):
    """A limit that holds."""

    user_id: str
    scope: str = Field(description="`user` for each day (UTC), or `task:` and the task's id.")
    owner: Literal["operator", "user"] = Field(description="Who set it. Of two limits the lower one binds.")
    limit_usd: float | None = Field(description="Null: there is none, whatever the settings say.")
    spent_usd: float = Field(description="Today, or by the task.")
    updated_at: str | None = Field(description="Null when it comes from the settings.")


class BudgetDefaults(BaseModel):
    """What the settings give everybody; null is no limit."""

    user_day_usd: float | None
    task_usd: float | None
    turn_usd: float | None


class BudgetList(BaseModel):
    defaults: BudgetDefaults
    budgets: list[Budget]
    resets_at: str = Field(description="When the day of the budgets of scope `user` is over.")


class DroppedBudget(BaseModel):
    status: Literal["deleted"] = "deleted"
    scope: str


@router.get(
    "",
    summary="What was used and what it cost",
    response_model=UsageReport,
    responses=refusals(ErrorCode.INVALID_REQUEST, ErrorCode.PERMISSION_DENIED),
)
async def usage(
    engine: Serving,
    visit: Visiting,
    group: Annotated[UsageGroup, Query()] = "day",
    since: Annotated[
        str | None,
        Query(alias="from", max_length=40, description="A day (UTC), a time, or milliseconds since 1970."),
    ] = None,
    until: Annotated[
        str | None, Query(alias="to", max_length=40, description="A day is included, a time is not.")
    ] = None,
    task_id: Annotated[TaskId | None, Query()] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    user: User = None,
) -> UsageReport:
    """Model calls added up by day, model, user, task or turn, with their total."""
    whose = _whose(visit, user)
    what = UsageSlice(
        user_id=None if whose == EVERYBODY else whose,
        task_id=task_id,
        since=_time("from", since, timedelta()),
        until=_time("to", until, timedelta(days=1)),
    )
    found, total = await engine.brain.usage(what, group, limit)
    return UsageReport(
        group=group,
        user=whose,
        rows=[UsageRow.of(item) for item in found],
        total=Amounts.model_validate(_fields(total)),
    )


@router.get(
    "/budgets",
    summary="List budgets and what is spent of them",
    response_model=BudgetList,
    responses=refusals(ErrorCode.INVALID_REQUEST, ErrorCode.PERMISSION_DENIED),
)
async def budgets(engine: Serving, visit: Visiting, user: User = None) -> BudgetList:
    """What the settings give everybody, and what holds for a user and was set for their tasks."""
    whose = _whose(visit, user)
    rows = engine.budgets.rows(None if whose == EVERYBODY else whose)
    usual = engine.budgets.usual
    given = [] if whose == EVERYBODY else _given(engine, whose, rows)
    return BudgetList(
        defaults=BudgetDefaults(user_day_usd=usual["user"], task_usd=usual["task"], turn_usd=usual["turn"]),
        budgets=[await _budget(engine, row) for row in [*given, *rows]],
        resets_at=engine.budgets.today().end,
    )


@router.put(
    "/budgets/{scope}",
    summary="Set a budget",
    response_model=Budget,
    responses=refusals(
        ErrorCode.MALFORMED_REQUEST,
        ErrorCode.INVALID_REQUEST,
        ErrorCode.PERMISSION_DENIED,
        ErrorCode.UNSUPPORTED_MEDIA_TYPE,
        ErrorCode.PAYLOAD_TOO_LARGE,
        ErrorCode.STORAGE_UNAVAILABLE,
    ),
)
async def put_budget(
    scope: Scope, body: BudgetBody, engine: Serving, visit: Visiting, response: Response, user: User = None
) -> Budget:
    """A user may set a limit below the operator's, the operator any. Turns it stopped go on if they now may."""
    row = _row(visit, scope, user, body.limit_usd)
    await engine.budgets.put(row)
    await engine.coordinator.reconsider(row.user_id)
    response.headers.update(warnings(body))
    return await _budget(engine, row)


@router.delete(
    "/budgets/{scope}",
    summary="Take a budget back",
    response_model=DroppedBudget,
    responses=refusals(ErrorCode.NOT_FOUND, ErrorCode.INVALID_REQUEST, ErrorCode.PERMISSION_DENIED),
)
async def delete_budget(scope: Scope, engine: Serving, visit: Visiting, user: User = None) -> DroppedBudget:
    """What the caller had set no longer holds; what the settings or somebody else set does."""
    row = _row(visit, scope, user, None)
    if not await engine.budgets.drop(row):
        raise EngineError(ErrorCode.NOT_FOUND, "No such budget was set. GET /usage/budgets lists them.")
    await engine.coordinator.reconsider(row.user_id)
    return DroppedBudget(scope=scope)


def _whose(visit: Visit, user: str | None) -> str:
    if user is None or user == visit.user_id:
        return visit.user_id
    if not visit.caller.operator:
        raise EngineError(
            ErrorCode.PERMISSION_DENIED, "Only the operator can look at another user's. Leave `user` out."
        )
    return user


def _row(visit: Visit, scope: str, user: str | None, limit_usd: float | None) -> BudgetRow:
    whose = _whose(visit, user)
    task_id = scope.removeprefix(TASK)
    if whose == EVERYBODY:
        raise _unfit("user", "names one user; the settings BUDGET_* are for everybody")
    if scope != "user" and (task_id == scope or not task_id):
        raise _unfit("scope", "has to be `user`, or `task:` and the id of a task")
    return BudgetRow(
        user_id=whose,
        scope="user" if scope == "user" else "task",
        task_id="" if scope == "user" else task_id,
        owner="operator" if visit.caller.operator else "user",
        limit_usd=limit_usd,
        updated_at=now_ms(),
    )


def _given(engine: Engine, user_id: str, rows: list[BudgetRow]) -> list[BudgetRow]:
    """The limit on the user's day that comes from the settings, unless the operator set another."""
    limit = engine.budgets.usual["user"]
    if limit is None or any(row.scope == "user" and row.owner == "operator" for row in rows):
        return []
    return [BudgetRow(user_id=user_id, scope="user", task_id="", owner="operator", limit_usd=limit, updated_at=0)]


async def _budget(engine: Engine, row: BudgetRow) -> Budget:
    spent = await engine.brain.spent(ThreadKey(row.user_id, row.task_id), engine.budgets.today().start_ms)
    return Budget(
        user_id=row.user_id,
        scope="user" if row.scope == "user" else TASK + row.task_id,
        owner=row.owner,
        limit_usd=row.limit_usd,
        spent_usd=spent.user if row.scope == "user" else spent.task,
        updated_at=iso_ms(row.updated_at) if row.updated_at else None,
    )


def _time(field: str, text: str | None, whole_day: timedelta) -> int | None:
    """A point in time in milliseconds; a day stands for its beginning, plus what is added to days."""
    if text is None:
        return None
    try:
        if text.isascii() and text.isdecimal() and len(text) > 8:
            return int(text[:16])
        if len(text) == len("2026-04-27"):
            day = date.fromisoformat(text) + whole_day
            moment = datetime(day.year, day.month, day.day, tzinfo=UTC)
        else:
            moment = datetime.fromisoformat(text)
    except (ValueError, OverflowError):
        raise _unfit(field, "is not a day (2026-04-27), a time in ISO-8601 or milliseconds since 1970") from None
    zoned = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return int(zoned.timestamp() * 1000)


def _unfit(field: str, problem: str) -> EngineError:
    return EngineError(
        ErrorCode.INVALID_REQUEST, f"`{field}` {problem}.", {"fields": [{"field": field, "problem": problem}]}
    )


def _fields(found: UsageSum) -> dict[str, object]:
    return {name: getattr(found, name) for name in found.__struct_fields__}
