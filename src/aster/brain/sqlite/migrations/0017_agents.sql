-- Agents that users wrote down, and the turns that agents began for other agents.

CREATE TABLE agents (
    user_id    TEXT NOT NULL,
    name       TEXT NOT NULL,
    body       BLOB NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (user_id, name)
) WITHOUT ROWID;

-- `thread_id` and `turn_id` are the parent's; `body` is the order the child's turn is begun with.
CREATE TABLE subagents (
    child_turn_id TEXT PRIMARY KEY,
    thread_id     INTEGER NOT NULL,
    user_id       TEXT NOT NULL,
    turn_id       TEXT NOT NULL DEFAULT '',
    root_turn_id  TEXT NOT NULL DEFAULT '',
    tool_call_id  TEXT NOT NULL DEFAULT '',
    child_task_id TEXT NOT NULL DEFAULT '',
    agent         TEXT NOT NULL DEFAULT '',
    background    INTEGER NOT NULL DEFAULT 0,
    status        TEXT NOT NULL DEFAULT '',
    body          BLOB NOT NULL DEFAULT '',
    result        TEXT,
    created_at    INTEGER NOT NULL DEFAULT 0,
    ended_at      INTEGER,
    told_at       INTEGER
);
CREATE INDEX subagents_by_thread ON subagents (thread_id, created_at);
CREATE INDEX subagents_by_turn ON subagents (turn_id);
CREATE INDEX subagents_by_root ON subagents (root_turn_id);
CREATE INDEX subagents_running ON subagents (created_at) WHERE status = 'running';

ALTER TABLE turns ADD COLUMN agent TEXT NOT NULL DEFAULT 'main';
ALTER TABLE threads ADD COLUMN parent_task_id TEXT;
ALTER TABLE threads ADD COLUMN home_task_id TEXT;
CREATE INDEX threads_by_parent ON threads (user_id, parent_task_id) WHERE parent_task_id IS NOT NULL;
CREATE INDEX threads_by_home ON threads (user_id, home_task_id) WHERE home_task_id IS NOT NULL;
