"""Error codes: public API, one HTTP status and one piece of advice each.

A client routes on the code, never on the sentence. Codes are added, never renamed; the table below is the
only place that knows a code's status and whether to try again.
"""

from enum import StrEnum
from typing import Any, Literal, NamedTuple, TypeAlias

from aster.contracts.model import Contract

Retry: TypeAlias = Literal["never", "now", "after", "ask"]


class ErrorCode(StrEnum):
    INVALID_KEY = "INVALID_KEY"
    KEY_ROTATION_PENDING = "KEY_ROTATION_PENDING"
    TASK_NOT_FOUND = "TASK_NOT_FOUND"
    HITL_REQUIRED = "HITL_REQUIRED"
    LLM_RATE_LIMITED = "LLM_RATE_LIMITED"
    LLM_PROVIDER_ERROR = "LLM_PROVIDER_ERROR"
    CONTEXT_OVERFLOW = "CONTEXT_OVERFLOW"
    PERMISSION_DENIED = "PERMISSION_DENIED"
    MCP_CONNECTION_FAILED = "MCP_CONNECTION_FAILED"
    MCP_TOKEN_EXPIRED = "MCP_TOKEN_EXPIRED"
    MIGRATION_REQUIRED = "MIGRATION_REQUIRED"
    INVALID_REQUEST = "INVALID_REQUEST"
    MALFORMED_REQUEST = "MALFORMED_REQUEST"
    NOT_FOUND = "NOT_FOUND"
    METHOD_NOT_ALLOWED = "METHOD_NOT_ALLOWED"
    HITL_NOT_PENDING = "HITL_NOT_PENDING"
    TASK_BUSY = "TASK_BUSY"
    TASK_EXISTS = "TASK_EXISTS"
    TASK_NOT_RUNNING = "TASK_NOT_RUNNING"
    UNDO_CONFLICT = "UNDO_CONFLICT"
    WORK_CONFLICT = "WORK_CONFLICT"
    TEAM_CONFLICT = "TEAM_CONFLICT"
    WORKTREE_CONFLICT = "WORKTREE_CONFLICT"
    TOOL_IN_DOUBT = "TOOL_IN_DOUBT"
    ORIGIN_REFUSED = "ORIGIN_REFUSED"
    PAYLOAD_TOO_LARGE = "PAYLOAD_TOO_LARGE"
    UNSUPPORTED_MEDIA_TYPE = "UNSUPPORTED_MEDIA_TYPE"
    RATE_LIMITED = "RATE_LIMITED"
    BUDGET_EXCEEDED = "BUDGET_EXCEEDED"
    SLOTS_EXHAUSTED = "SLOTS_EXHAUSTED"
    DRAINING = "DRAINING"
    STORAGE_UNAVAILABLE = "STORAGE_UNAVAILABLE"
    SANDBOX_UNAVAILABLE = "SANDBOX_UNAVAILABLE"
    CONFIGURATION_INVALID = "CONFIGURATION_INVALID"
    LLM_TIMEOUT = "LLM_TIMEOUT"
    TURN_CRASHED = "TURN_CRASHED"
    INTERNAL = "INTERNAL"


class CodeFacts(NamedTuple):
    """What a code means to a client."""

    status: int
    retry: Retry
    meaning: str


CODES: dict[ErrorCode, CodeFacts] = {
    ErrorCode.INVALID_KEY: CodeFacts(401, "never", "The key is missing, wrong or revoked."),
    ErrorCode.KEY_ROTATION_PENDING: CodeFacts(401, "now", "The key was replaced; use the new one."),
    ErrorCode.TASK_NOT_FOUND: CodeFacts(404, "never", "No task of this user has that id."),
    ErrorCode.HITL_REQUIRED: CodeFacts(409, "ask", "The task waits for a human; answer it first."),
    ErrorCode.LLM_RATE_LIMITED: CodeFacts(429, "after", "The model provider limits the rate of calls."),
    ErrorCode.LLM_PROVIDER_ERROR: CodeFacts(502, "now", "The model provider failed or refused the call."),
    ErrorCode.CONTEXT_OVERFLOW: CodeFacts(
        422, "never", "The conversation no longer fits the model; start a new task or trim it."
    ),
    ErrorCode.PERMISSION_DENIED: CodeFacts(403, "never", "The key is valid but may not do this."),
    ErrorCode.MCP_CONNECTION_FAILED: CodeFacts(502, "now", "The connector could not be reached."),
    ErrorCode.MCP_TOKEN_EXPIRED: CodeFacts(401, "ask", "The connector's login expired; connect it again."),
    ErrorCode.MIGRATION_REQUIRED: CodeFacts(
        503, "never", "The brain and the code have different versions; start the matching engine."
    ),
    ErrorCode.INVALID_REQUEST: CodeFacts(422, "never", "A field is missing or wrong; `details` names it."),
    ErrorCode.MALFORMED_REQUEST: CodeFacts(400, "never", "The body is not valid JSON or not valid HTTP."),
    ErrorCode.NOT_FOUND: CodeFacts(404, "never", "There is no such resource or route."),
    ErrorCode.METHOD_NOT_ALLOWED: CodeFacts(405, "never", "The route exists, but not for this method."),
    ErrorCode.HITL_NOT_PENDING: CodeFacts(404, "never", "Nothing waits for an answer there (any more)."),
    ErrorCode.TASK_BUSY: CodeFacts(409, "after", "A turn of this task is running; choose `on_busy` or wait."),
    ErrorCode.TASK_EXISTS: CodeFacts(409, "never", "A task with that id exists already."),
    ErrorCode.TASK_NOT_RUNNING: CodeFacts(409, "never", "The task has no turn that could be cancelled."),
    ErrorCode.UNDO_CONFLICT: CodeFacts(409, "ask", "A file is not as the turn left it; nothing was undone."),
    ErrorCode.WORK_CONFLICT: CodeFacts(
        409, "ask", "The work item does not allow this as it stands; `details.reason` says why."
    ),
    ErrorCode.TEAM_CONFLICT: CodeFacts(
        409, "ask", "The team does not allow this as it stands; `details.reason` says why."
    ),
    ErrorCode.WORKTREE_CONFLICT: CodeFacts(
        409, "ask", "The worktree or its item does not allow this as it stands; `details.reason` says why."
    ),
    ErrorCode.TOOL_IN_DOUBT: CodeFacts(
        409, "ask", "A tool was running when the engine stopped; a human must say whether it finished."
    ),
    ErrorCode.ORIGIN_REFUSED: CodeFacts(403, "never", "A web page of another origin may not call this engine."),
    ErrorCode.PAYLOAD_TOO_LARGE: CodeFacts(413, "never", "The body is larger than the engine accepts."),
    ErrorCode.UNSUPPORTED_MEDIA_TYPE: CodeFacts(415, "never", "Send the body as application/json."),
    ErrorCode.RATE_LIMITED: CodeFacts(429, "after", "Too many requests with this key; slow down."),
    ErrorCode.BUDGET_EXCEEDED: CodeFacts(402, "ask", "The budget set for this work is used up."),
    ErrorCode.SLOTS_EXHAUSTED: CodeFacts(503, "after", "Every slot is running a turn; try again shortly."),
    ErrorCode.DRAINING: CodeFacts(503, "after", "The engine is shutting down; the next one takes over."),
    ErrorCode.STORAGE_UNAVAILABLE: CodeFacts(
        503, "after", "The brain cannot be written (disk full or failing); nothing accepted was lost."
    ),
    ErrorCode.SANDBOX_UNAVAILABLE: CodeFacts(
        503, "never", "No isolation works on this machine; `aster doctor` says how to get one."
    ),
    ErrorCode.CONFIGURATION_INVALID: CodeFacts(500, "never", "A setting is wrong; `details` names it."),
    ErrorCode.LLM_TIMEOUT: CodeFacts(504, "now", "The model provider did not answer in time."),
    ErrorCode.TURN_CRASHED: CodeFacts(
        500, "ask", "The engine died again and again over this turn, so it was given up; the logs say why."
    ),
    ErrorCode.INTERNAL: CodeFacts(500, "now", "An unexpected failure; the request id finds it in the log."),
}


class ErrorBody(Contract):
    """The envelope of every answer that is not 2xx, and the payload of an `error` event."""

    error: ErrorCode
    message: str
    retry: Retry
    details: dict[str, Any] | None = None


class EngineError(Exception):
    """A failure with a public code; `retry_after` is in seconds when the code says `after`."""

    def __init__(
        self,
        code: ErrorCode,
        message: str,
        details: dict[str, Any] | None = None,
        *,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.details = details
        self.retry_after = retry_after

    @property
    def status(self) -> int:
        return CODES[self.code].status

    @property
    def retry(self) -> Retry:
        return CODES[self.code].retry

    def body(self) -> ErrorBody:
        details = self.details
        if self.retry_after is not None:
            details = {**(details or {}), "retry_after_seconds": round(self.retry_after, 3)}
        return ErrorBody(error=self.code, message=self.message, retry=self.retry, details=details)
