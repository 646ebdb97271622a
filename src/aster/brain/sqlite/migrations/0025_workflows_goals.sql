-- Workflows: runs and the journal of each, keyed by what was asked. Goals: one for a task.

CREATE TABLE workflow_runs (
    run_id      TEXT PRIMARY KEY,
    thread_id   INTEGER NOT NULL,
    user_id     TEXT NOT NULL,
    task_id     TEXT NOT NULL DEFAULT '',
    workflow    TEXT NOT NULL DEFAULT '',
    args        BLOB NOT NULL DEFAULT '',
    args_digest TEXT NOT NULL DEFAULT '',
    status      TEXT NOT NULL DEFAULT '',
    holder      TEXT NOT NULL DEFAULT '',
    turn_id     TEXT NOT NULL DEFAULT '',
    attempts    INTEGER NOT NULL DEFAULT 0,
    cancelling  INTEGER NOT NULL DEFAULT 0,
    phase       TEXT NOT NULL DEFAULT '',
    agents      INTEGER NOT NULL DEFAULT 0,
    cached      INTEGER NOT NULL DEFAULT 0,
    cost_usd    REAL NOT NULL DEFAULT 0,
    tokens      INTEGER NOT NULL DEFAULT 0,
    result      BLOB NOT NULL DEFAULT '',
    problem     TEXT NOT NULL DEFAULT '',
    created_at  INTEGER NOT NULL DEFAULT 0,
    updated_at  INTEGER NOT NULL DEFAULT 0,
    ended_at    INTEGER
);
CREATE INDEX workflow_runs_by_user ON workflow_runs (user_id, created_at);
CREATE INDEX workflow_runs_by_thread ON workflow_runs (thread_id);

CREATE TABLE workflow_calls (
    run_id        TEXT NOT NULL,
    call_key      TEXT NOT NULL,
    thread_id     INTEGER NOT NULL,
    user_id       TEXT NOT NULL,
    label         TEXT NOT NULL,
    phase         TEXT NOT NULL,
    status        TEXT NOT NULL,
    attempt       INTEGER NOT NULL,
    child_task_id TEXT NOT NULL,
    child_turn_id TEXT NOT NULL,
    result        BLOB NOT NULL,
    problem       TEXT NOT NULL,
    cost_usd      REAL NOT NULL,
    tokens        INTEGER NOT NULL,
    digest        TEXT NOT NULL,
    created_at    INTEGER NOT NULL,
    ended_at      INTEGER,
    PRIMARY KEY (run_id, call_key)
);
CREATE INDEX workflow_calls_by_thread ON workflow_calls (thread_id);

CREATE TABLE goals (
    thread_id  INTEGER PRIMARY KEY,
    user_id    TEXT NOT NULL,
    goal_id    TEXT NOT NULL,
    goal       TEXT NOT NULL,
    status     TEXT NOT NULL,
    outcome    TEXT NOT NULL,
    reason     TEXT,
    blocks     INTEGER NOT NULL,
    set_at     INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
);
