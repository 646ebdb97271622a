-- Schedules: what is to be said to a task and when, and one row for each time that was due.

CREATE TABLE schedules (
    number      INTEGER PRIMARY KEY AUTOINCREMENT,
    schedule_id TEXT NOT NULL UNIQUE,
    user_id     TEXT NOT NULL,
    task_id     TEXT,
    spec        BLOB NOT NULL,
    status      TEXT NOT NULL,
    next_at     INTEGER,
    runs        INTEGER NOT NULL,
    version     INTEGER NOT NULL,
    held        INTEGER NOT NULL,
    holder      TEXT NOT NULL,
    problem     TEXT NOT NULL,
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL
);
CREATE INDEX schedules_due ON schedules (next_at) WHERE status = 'active';
CREATE INDEX schedules_over ON schedules (updated_at) WHERE status IN ('ended', 'cancelled');
CREATE INDEX schedules_by_user ON schedules (user_id, number);
CREATE INDEX schedules_by_task ON schedules (user_id, task_id) WHERE task_id IS NOT NULL;
CREATE INDEX schedules_of_process ON schedules (holder) WHERE holder <> '';

CREATE TABLE schedule_occurrences (
    schedule_id   TEXT NOT NULL,
    due_at        INTEGER NOT NULL,
    user_id       TEXT NOT NULL,
    thread_id     INTEGER,
    status        TEXT NOT NULL,
    look_at       INTEGER NOT NULL,
    created_at    INTEGER NOT NULL DEFAULT 0,
    task_id       TEXT NOT NULL DEFAULT '',
    turn_id       TEXT NOT NULL DEFAULT '',
    after_turn_id TEXT,
    by_hand       INTEGER NOT NULL DEFAULT 0,
    count         INTEGER NOT NULL DEFAULT 1,
    until_at      INTEGER,
    attempt       INTEGER NOT NULL DEFAULT 0,
    delivered_at  INTEGER,
    settled_at    INTEGER,
    reason        TEXT NOT NULL DEFAULT '',
    claimed_until INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (schedule_id, due_at)
) WITHOUT ROWID;
CREATE INDEX occurrences_open ON schedule_occurrences (look_at) WHERE status IN ('due', 'deferred', 'delivered');
CREATE INDEX occurrences_settled ON schedule_occurrences (settled_at) WHERE settled_at IS NOT NULL;
CREATE INDEX occurrences_by_thread ON schedule_occurrences (thread_id) WHERE thread_id IS NOT NULL;
