"""Budgets as turns meet them: whose they are, and the case a person decides when one does not suffice."""

from typing import Literal, TypeAlias

from aster.contracts.model import Contract

BudgetScope: TypeAlias = Literal["user", "task", "turn"]
BudgetOwner: TypeAlias = Literal["operator", "user"]
BudgetRung: TypeAlias = Literal["ask", "exceeded"]


class BudgetCase(Contract):
    """Why a budget makes the turn ask a person: whose budget it is, where it stands, what a yes allows.

    `day` is the day a budget of scope `user` is for.
    """

    scope: BudgetScope
    owner: BudgetOwner
    rung: BudgetRung
    limit_usd: float
    spent_usd: float
    estimate_usd: float
    up_to_usd: float
    day: str | None = None
