-- Permissions that people gave or refused once and for all. `thread_id` is where the question was asked, if one was.

CREATE TABLE grants (
    grant_id     TEXT PRIMARY KEY,
    user_id      TEXT NOT NULL,
    thread_id    INTEGER,
    tool         TEXT NOT NULL,
    pattern      TEXT NOT NULL,
    behavior     TEXT NOT NULL,
    scope        TEXT NOT NULL,
    task_id      TEXT NOT NULL,
    agent        TEXT NOT NULL,
    request_id   TEXT,
    created_by   TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER,
    uses         INTEGER NOT NULL DEFAULT 0,
    last_used_at INTEGER
);
CREATE INDEX grants_by_user ON grants (user_id, created_at);
CREATE INDEX grants_by_expiry ON grants (expires_at) WHERE expires_at IS NOT NULL;

ALTER TABLE hitl_requests ADD COLUMN offer BLOB;
