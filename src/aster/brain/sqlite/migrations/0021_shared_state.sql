-- What several replicas have to agree on: money set aside for calls under way, which replica a background command runs
-- on, what it has said so far, and words that all go by.

CREATE TABLE budget_holds (
    hold_id    TEXT PRIMARY KEY,
    user_id    TEXT NOT NULL,
    task_id    TEXT NOT NULL,
    turn_id    TEXT NOT NULL,
    owner      TEXT NOT NULL,
    usd        REAL NOT NULL,
    expires_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX holds_of_user ON budget_holds (user_id, expires_at);

ALTER TABLE background_tasks ADD COLUMN owner TEXT;
ALTER TABLE background_tasks ADD COLUMN asked_to_stop TEXT;

CREATE TABLE background_output (
    runtime_task_id TEXT NOT NULL,
    part            INTEGER NOT NULL,
    thread_id       INTEGER NOT NULL,
    user_id         TEXT NOT NULL,
    position        INTEGER NOT NULL,
    text            TEXT NOT NULL,
    PRIMARY KEY (runtime_task_id, part)
) WITHOUT ROWID;
CREATE INDEX background_output_by_thread ON background_output (thread_id);

CREATE TABLE marks (
    name       TEXT PRIMARY KEY,
    user_id    TEXT NOT NULL,
    value      TEXT NOT NULL,
    updated_at INTEGER NOT NULL
) WITHOUT ROWID;
