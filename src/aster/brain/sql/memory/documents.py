"""Documents: which there are, and their parts in order. Parts that something took the place of do not count."""

from aster.brain.memory_kinds import KINDS
from aster.brain.memory_records import DocumentPart, DocumentSummary
from aster.brain.sql.connection import Connection

_TABLE = KINDS["chunk"].table


def documents(
    db: Connection, user_id: str, *, limit: int, task_id: str | None = None, before: int | None = None
) -> list[DocumentSummary]:
    """A user's documents, the newest first."""
    condition, values = "c.user_id = ? AND r.superseded_by IS NULL", [user_id]
    if task_id is not None:
        condition += " AND r.task_id = ?"
        values.append(task_id)
    found = db.execute(
        "SELECT c.document, max(c.title), count(*), sum(length(c.content)), max(r.task_id), max(r.extractor),"
        f" min(r.created_at), max(c.number) AS newest FROM {_TABLE} c JOIN memory_receipts r USING (number)"
        f" WHERE {condition} GROUP BY c.document HAVING CAST(? AS BIGINT) IS NULL OR max(c.number) < ?"
        " ORDER BY newest DESC LIMIT ?",
        (*values, before, before, limit),
    )
    return [DocumentSummary._make(row) for row in found]


def parts_of(db: Connection, user_id: str, document: str) -> list[DocumentPart]:
    """The parts of a document, in order."""
    found = db.execute(
        f"SELECT r.id, c.position, c.content FROM {_TABLE} c JOIN memory_receipts r USING (number)"
        " WHERE c.user_id = ? AND c.document = ? AND r.superseded_by IS NULL ORDER BY c.position",
        (user_id, document),
    )
    return [DocumentPart._make(row) for row in found]
