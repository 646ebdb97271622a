-- Workflows: runs and the journal of each, keyed by what was asked. Goals: one for a task.

CREATE TABLE workflow_runs (
    run_id      TEXT PRIMARY KEY,
    thread_id   BIGINT NOT NULL,
    user_id     TEXT NOT NULL,
    task_id     TEXT NOT NULL DEFAULT '',
    workflow    TEXT NOT NULL DEFAULT '',
    args        BYTEA NOT NULL DEFAULT '',
    args_digest TEXT NOT NULL DEFAULT '',
    status      TEXT NOT NULL DEFAULT '',
    holder      TEXT NOT NULL DEFAULT '',
    turn_id     TEXT NOT NULL DEFAULT '',
    attempts    BIGINT NOT NULL DEFAULT 0,
    cancelling  BIGINT NOT NULL DEFAULT 0,
    phase       TEXT NOT NULL DEFAULT '',
    agents      BIGINT NOT NULL DEFAULT 0,
    cached      BIGINT NOT NULL DEFAULT 0,
    cost_usd    DOUBLE PRECISION NOT NULL DEFAULT 0,
    tokens      BIGINT NOT NULL DEFAULT 0,
    result      BYTEA NOT NULL DEFAULT '',
    problem     TEXT NOT NULL DEFAULT '',
    created_at  BIGINT NOT NULL DEFAULT 0,
    updated_at  BIGINT NOT NULL DEFAULT 0,
    ended_at    BIGINT
);
CREATE INDEX workflow_runs_by_user ON workflow_runs (user_id, created_at);
CREATE INDEX workflow_runs_by_thread ON workflow_runs (thread_id);

CREATE TABLE workflow_calls (
    run_id        TEXT NOT NULL,
    call_key      TEXT NOT NULL,
    thread_id     BIGINT NOT NULL,
    user_id       TEXT NOT NULL,
    label         TEXT NOT NULL,
    phase         TEXT NOT NULL,
    status        TEXT NOT NULL,
    attempt       BIGINT NOT NULL,
    child_task_id TEXT NOT NULL,
    child_turn_id TEXT NOT NULL,
    result        BYTEA NOT NULL,
    problem       TEXT NOT NULL,
    cost_usd      DOUBLE PRECISION NOT NULL,
    tokens        BIGINT NOT NULL,
    digest        TEXT NOT NULL,
    created_at    BIGINT NOT NULL,
    ended_at      BIGINT,
    PRIMARY KEY (run_id, call_key)
);
CREATE INDEX workflow_calls_by_thread ON workflow_calls (thread_id);

CREATE TABLE goals (
    thread_id  BIGINT PRIMARY KEY,
    user_id    TEXT NOT NULL,
    goal_id    TEXT NOT NULL,
    goal       TEXT NOT NULL,
    status     TEXT NOT NULL,
    outcome    TEXT NOT NULL,
    reason     TEXT,
    blocks     BIGINT NOT NULL,
    set_at     BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);

ALTER TABLE workflow_runs ENABLE ROW LEVEL SECURITY;
ALTER TABLE workflow_runs FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON workflow_runs USING (current_setting('aster.user', true) IN ('*', '=' || user_id));
ALTER TABLE workflow_calls ENABLE ROW LEVEL SECURITY;
ALTER TABLE workflow_calls FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON workflow_calls USING (current_setting('aster.user', true) IN ('*', '=' || user_id));
ALTER TABLE goals ENABLE ROW LEVEL SECURITY;
ALTER TABLE goals FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON goals USING (current_setting('aster.user', true) IN ('*', '=' || user_id));
