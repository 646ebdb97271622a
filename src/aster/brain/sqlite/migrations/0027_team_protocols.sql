-- Protocols of teams: requests that are answered once, and the gate before a member's work until its plan is approved.

CREATE TABLE team_requests (
    number       INTEGER PRIMARY KEY AUTOINCREMENT,
    request_id   TEXT NOT NULL UNIQUE,
    user_id      TEXT NOT NULL,
    team_id      TEXT NOT NULL,
    kind         TEXT NOT NULL,
    sender       TEXT NOT NULL,
    target       TEXT NOT NULL,
    member       TEXT NOT NULL,
    task_id      TEXT NOT NULL,
    status       TEXT NOT NULL,
    content      TEXT NOT NULL,
    item_id      TEXT,
    work_version INTEGER NOT NULL,
    call_key     TEXT,
    answered_by  TEXT,
    feedback     TEXT,
    created_at   INTEGER NOT NULL,
    answered_at  INTEGER
);
CREATE INDEX team_requests_by_team ON team_requests (user_id, team_id, number);
CREATE INDEX team_requests_by_call ON team_requests (user_id, call_key) WHERE call_key IS NOT NULL;
-- A member has one plan and one shutdown under way at most.
CREATE UNIQUE INDEX team_requests_open ON team_requests (user_id, task_id, kind) WHERE status = 'pending';

CREATE TABLE team_gates (
    user_id      TEXT NOT NULL,
    task_id      TEXT NOT NULL,
    team_id      TEXT NOT NULL,
    member       TEXT NOT NULL,
    owner        TEXT NOT NULL,
    status       TEXT NOT NULL,
    work_version INTEGER NOT NULL,
    item_id      TEXT,
    request_id   TEXT,
    feedback     TEXT,
    updated_at   INTEGER NOT NULL,
    PRIMARY KEY (user_id, task_id)
) WITHOUT ROWID;
CREATE UNIQUE INDEX team_gates_by_owner ON team_gates (user_id, owner);
CREATE INDEX team_gates_by_team ON team_gates (user_id, team_id);
