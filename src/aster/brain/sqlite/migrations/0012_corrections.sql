-- Answers that were refuted after their turn: what is to be said about each at the start of the task's next turn.

CREATE TABLE corrections (
    correction_id TEXT PRIMARY KEY,
    thread_id     INTEGER NOT NULL,
    user_id       TEXT NOT NULL,
    turn_id       TEXT NOT NULL DEFAULT '',
    message_id    TEXT NOT NULL DEFAULT '',
    event         BLOB NOT NULL DEFAULT '{}',
    created_at    INTEGER NOT NULL DEFAULT 0,
    expires_at    INTEGER NOT NULL DEFAULT 0,
    told_at       INTEGER
);
CREATE INDEX corrections_by_thread ON corrections (thread_id);
CREATE INDEX corrections_expiring ON corrections (expires_at);
