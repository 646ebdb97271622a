-- Worktrees: the directories that items of the work graph are done in, and which turns work or have worked in them.

CREATE TABLE worktrees (
    number       INTEGER PRIMARY KEY AUTOINCREMENT,
    worktree_id  TEXT NOT NULL UNIQUE,
    user_id      TEXT NOT NULL,
    name         TEXT NOT NULL,
    repository   TEXT NOT NULL,
    path         TEXT NOT NULL,
    branch       TEXT NOT NULL,
    base         TEXT,
    status       TEXT NOT NULL,
    kept         INTEGER NOT NULL,
    item_id      TEXT NOT NULL,
    home_task_id TEXT NOT NULL,
    created_by   TEXT NOT NULL,
    person       INTEGER NOT NULL,
    reason       TEXT,
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL
);
CREATE INDEX worktrees_by_user ON worktrees (user_id, number);
CREATE INDEX worktrees_by_item ON worktrees (user_id, item_id);
-- What lies at a place is one worktree's.
CREATE UNIQUE INDEX worktrees_there ON worktrees (user_id, path)
    WHERE status IN ('creating', 'active', 'kept', 'removing');

CREATE TABLE worktree_leases (
    turn_id     TEXT NOT NULL,
    worktree_id TEXT NOT NULL,
    user_id     TEXT NOT NULL,
    task_id     TEXT NOT NULL,
    held        INTEGER NOT NULL,
    PRIMARY KEY (turn_id, worktree_id)
) WITHOUT ROWID;
CREATE INDEX worktree_leases_by_tree ON worktree_leases (user_id, worktree_id);
CREATE INDEX worktree_leases_by_task ON worktree_leases (user_id, task_id);
