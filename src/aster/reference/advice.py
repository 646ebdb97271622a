"""What to do about each error: the part of the errors page that no table of facts can say."""

from typing import Final

from aster.contracts.errors import ErrorCode, Retry

RETRY: Final[dict[Retry, str]] = {
    "never": "The same request will fail again; change it first.",
    "now": "The same request may succeed at once. Try once more, then give up.",
    "after": "Wait for `details.retry_after_seconds`, or back off from one second; then try again.",
    "ask": "A human has to do something first; trying again by itself changes nothing.",
}

ADVICE: Final[dict[ErrorCode, str]] = {
    ErrorCode.INVALID_KEY: (
        "Send a key in `X-Engine-Key` or `Authorization: Bearer`. `aster keys list` shows which keys exist, "
        "`aster keys create` makes one. A key is never guessed at: nothing else of the request was looked at."
    ),
    ErrorCode.KEY_ROTATION_PENDING: (
        "The key you use was rotated and its overlap is over. Put the new key in place and send the request "
        "again; after `BAP_KEY_ROTATION_MAX_OVERLAP_SECONDS` the old one is answered with `INVALID_KEY`."
    ),
    ErrorCode.TASK_NOT_FOUND: (
        "Check the `task_id`, and that the key belongs to the user who owns the task. `GET /tasks` lists the "
        "tasks this key can see. A task that was deleted does not come back."
    ),
    ErrorCode.HITL_REQUIRED: (
        "The turn waits for an answer. Read the question with `GET /hitl/pending`, answer it with `POST "
        "/hitl/respond`, or cancel the turn; then send the message, or send it with `on_busy`."
    ),
    ErrorCode.LLM_RATE_LIMITED: (
        "The engine has already waited as long as it makes sense to. Wait for the time given, ask the "
        "provider for a higher limit, or lower `TASK_SLOTS`. What the turn did so far is on the thread: "
        "`retry_message_id` runs the message again."
    ),
    ErrorCode.LLM_PROVIDER_ERROR: (
        "The message says what the provider answered. A wrong model name or key has to be fixed in the "
        "settings; anything else may pass by itself."
    ),
    ErrorCode.CONTEXT_OVERFLOW: (
        "Start a new task, fork this one from an earlier `seq`, or send smaller messages and files. A model "
        "with a larger window helps, too."
    ),
    ErrorCode.PERMISSION_DENIED: (
        "This key may not do that. Use a key of the right user, or ask the operator. Do not try it another way."
    ),
    ErrorCode.MCP_CONNECTION_FAILED: (
        "See that the connector's server runs and that its address is right, then connect again."
    ),
    ErrorCode.MCP_TOKEN_EXPIRED: "Connect the connector again; the person who owns the account has to log in.",
    ErrorCode.MIGRATION_REQUIRED: (
        "The brain was written by a newer engine; it was not touched. Start that version or a later one. "
        "There is no way back but a backup."
    ),
    ErrorCode.INVALID_REQUEST: (
        "`details` names the field and what is wrong with it. The OpenAPI document at `/openapi.json` says "
        "what each route takes."
    ),
    ErrorCode.MALFORMED_REQUEST: "Send a JSON object in UTF-8, and a `Content-Length` that is true.",
    ErrorCode.NOT_FOUND: "Check the path and the id. The routes are listed in the OpenAPI document.",
    ErrorCode.METHOD_NOT_ALLOWED: "The OpenAPI document lists the methods of every route.",
    ErrorCode.HITL_NOT_PENDING: (
        "Somebody answered first, or the turn was cancelled. `GET /hitl/pending` lists what is still open."
    ),
    ErrorCode.TASK_BUSY: (
        "Wait for the running turn (follow `GET /execute/replay`), or say what you want with `on_busy`: "
        "`queue` runs the message afterwards, `steer` hands it to the running turn, `interrupt` stops that "
        "turn first."
    ),
    ErrorCode.UNDO_CONFLICT: "Look at the files named in `details.files`; send `force: true` to overwrite them.",
    ErrorCode.TASK_EXISTS: "Choose another `task_id`, or leave it out and take the one you are given.",
    ErrorCode.TASK_NOT_RUNNING: "There is nothing to stop: the turn has already ended, or none was started.",
    ErrorCode.WORK_CONFLICT: (
        "`details.reason` says what is in the way (`already_claimed`, `already_resolved`, `blocked`, `busy_owner`, "
        "`not_owner`, `not_claimed`, `stale`). Read the item again with `GET /work/items/{item_id}` and choose "
        "another, wait for what it waits for, or, as a person, send `override`. Nothing was changed."
    ),
    ErrorCode.TEAM_CONFLICT: (
        "`details.reason` says what is in the way: a name (`name_taken`, `unknown_recipient`), a limit (`too_many`, "
        "`inbox_full`, `too_fast`), how the team stands (`already_leads`, `stopped`, `busy`), or an answer that does "
        "not fit its request (`wrong_type`, `wrong_responder`, `wrong_recipient`, `already_settled`). Look at "
        "`GET /teams/{team_id}` and choose what fits. Nothing was changed."
    ),
    ErrorCode.WORKTREE_CONFLICT: (
        "`details.reason` says what is in the way: the item (`item_claimed`, `item_resolved`, `item_bound`, "
        "`unfinished`), the place (`exists`, `not_a_repository`, `elsewhere`, `broken`), git (`git_failed`), or "
        "somebody's work in it (`in_use`, `background`, `dirty`). Nothing was deleted. Look at it with "
        "`GET /worktrees/{worktree_id}`."
    ),
    ErrorCode.TOOL_IN_DOUBT: (
        "The engine stopped while a tool with effects was running, and cannot know whether it finished. Look "
        "at the world, then answer the open request: done, run it again, or leave it."
    ),
    ErrorCode.ORIGIN_REFUSED: (
        "A browser sent a page's origin that is not allowed. Add it to `ALLOWED_ORIGINS`, or call the engine "
        "from your own server."
    ),
    ErrorCode.PAYLOAD_TOO_LARGE: (
        "Send less, send a link instead of the data, or raise `MAX_REQUEST_BYTES`. Nothing of the body was kept."
    ),
    ErrorCode.UNSUPPORTED_MEDIA_TYPE: "Set `Content-Type: application/json`.",
    ErrorCode.RATE_LIMITED: "Slow down; several clients with one key count together.",
    ErrorCode.BUDGET_EXCEEDED: "Raise the budget, or start work with a budget of its own. Nothing more is spent.",
    ErrorCode.SLOTS_EXHAUSTED: (
        "All `TASK_SLOTS` are running turns. Wait, or raise the number. Turns that wait for a human take no slot."
    ),
    ErrorCode.DRAINING: (
        "The engine has been told to stop and takes no new turns. Send the request to another replica, or to "
        "this one when it is back; running turns go on there from where they were."
    ),
    ErrorCode.STORAGE_UNAVAILABLE: (
        "Free disk space, or repair what `/health` names. The engine writes again as soon as it can; whatever "
        "it accepted before is on disk."
    ),
    ErrorCode.SANDBOX_UNAVAILABLE: (
        "Run `aster doctor`: it says which kind of isolation is missing and how to get it. `SANDBOX=off` runs "
        "commands without any, which you should only say on a machine you can lose."
    ),
    ErrorCode.CONFIGURATION_INVALID: (
        "`details` maps each wrong variable to what is wrong with it. Set them right in the environment or in "
        "`.env` and start again."
    ),
    ErrorCode.LLM_TIMEOUT: (
        "The provider may be overloaded, or the model slow to begin: `LLM_FIRST_BYTE_TIMEOUT` and "
        "`LLM_IDLE_TIMEOUT` say how long the engine waits."
    ),
    ErrorCode.TURN_CRASHED: (
        "The process that ran the turn died `CRASH_LIMIT` times over the same part of it (killed for its memory, as a "
        "rule). Find out why in the engine's log and the system's, then send the message again."
    ),
    ErrorCode.INTERNAL: (
        "Find the request id (`X-Request-ID`) in the log; the line has the traceback. If it happens again, "
        "report it with that line."
    ),
}
