-- Work that outlives its turn: what was started, what became of it, how far it was read, whether the model was told.

CREATE TABLE background_tasks (
    runtime_task_id TEXT PRIMARY KEY,
    thread_id       INTEGER NOT NULL,
    user_id         TEXT NOT NULL,
    turn_id         TEXT NOT NULL DEFAULT '',
    tool_call_id    TEXT NOT NULL DEFAULT '',
    work            TEXT NOT NULL DEFAULT '',
    status          TEXT NOT NULL DEFAULT '',
    description     TEXT NOT NULL DEFAULT '',
    started_at      INTEGER NOT NULL DEFAULT 0,
    ended_at        INTEGER,
    exit_code       INTEGER,
    artifact_id     TEXT,
    left_out        INTEGER NOT NULL DEFAULT 0,
    read_to         INTEGER NOT NULL DEFAULT 0,
    told_at         INTEGER
);
CREATE INDEX background_by_thread ON background_tasks (thread_id, started_at);
CREATE INDEX background_running ON background_tasks (started_at) WHERE status = 'running';
CREATE INDEX background_untold ON background_tasks (thread_id) WHERE told_at IS NULL AND ended_at IS NOT NULL;
