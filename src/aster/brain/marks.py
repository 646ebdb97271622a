"""Marks: words that all replicas go by, such as which reading of the catalog was asked for last."""

from typing import ClassVar

from aster.brain.records import Row


class MarkRow(Row):
    """It concerns everybody, so it is the operator's."""

    table: ClassVar[str] = "marks"
    key: ClassVar[tuple[str, ...]] = ("name",)

    name: str
    value: str
    updated_at: int
    user_id: str = "operator"
