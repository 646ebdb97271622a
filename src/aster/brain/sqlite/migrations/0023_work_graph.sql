-- The work graph: what is to be done, what it waits for, who has it, and what has been changed.

CREATE TABLE work_items (
    number        INTEGER PRIMARY KEY AUTOINCREMENT,
    item_id       TEXT NOT NULL UNIQUE,
    user_id       TEXT NOT NULL,
    board         TEXT NOT NULL,
    subject       TEXT NOT NULL,
    description   TEXT NOT NULL,
    status        TEXT NOT NULL,
    owner         TEXT,
    role          TEXT,
    priority      INTEGER NOT NULL,
    worktree      TEXT,
    result        TEXT,
    version       INTEGER NOT NULL,
    task_id       TEXT NOT NULL,
    owner_task_id TEXT NOT NULL,
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL,
    claimed_at    INTEGER,
    completed_at  INTEGER
);
CREATE INDEX work_by_board ON work_items (user_id, board, priority DESC, number);
CREATE INDEX work_by_status ON work_items (user_id, board, status, priority DESC, number);
CREATE INDEX work_by_owner ON work_items (user_id, owner, priority DESC, number) WHERE owner IS NOT NULL;
-- Nobody is at two items at once.
CREATE UNIQUE INDEX work_held ON work_items (user_id, owner) WHERE status = 'in_progress';

CREATE TABLE work_edges (
    user_id TEXT NOT NULL,
    item_id TEXT NOT NULL,
    needs   TEXT NOT NULL,
    PRIMARY KEY (user_id, item_id, needs)
) WITHOUT ROWID;
CREATE INDEX work_needed ON work_edges (user_id, needs);

CREATE TABLE work_history (
    number    INTEGER PRIMARY KEY AUTOINCREMENT,
    change_id TEXT NOT NULL UNIQUE,
    user_id   TEXT NOT NULL,
    item_id   TEXT NOT NULL,
    action    TEXT NOT NULL,
    actor     TEXT NOT NULL,
    at        INTEGER NOT NULL,
    version   INTEGER NOT NULL,
    person    INTEGER NOT NULL,
    overrode  INTEGER NOT NULL,
    task_id   TEXT NOT NULL,
    turn_id   TEXT NOT NULL,
    seq       INTEGER NOT NULL,
    detail    BLOB NOT NULL,
    call_key  TEXT
);
CREATE INDEX work_history_by_item ON work_history (user_id, item_id, number);
CREATE INDEX work_history_by_call ON work_history (user_id, call_key) WHERE call_key IS NOT NULL;
