-- Runtime tasks: what a command has said in all, since when it seems to wait for an answer, what it was begun for, and
-- whether its end wakes its task. And the names of messages that were left for a busy task, so that each is left once.

ALTER TABLE background_tasks ADD COLUMN wake BIGINT NOT NULL DEFAULT 0;
ALTER TABLE background_tasks ADD COLUMN said BIGINT NOT NULL DEFAULT 0;
ALTER TABLE background_tasks ADD COLUMN work_item TEXT;
ALTER TABLE background_tasks ADD COLUMN stalled_at BIGINT;
ALTER TABLE background_tasks ADD COLUMN stall_told_at BIGINT;
CREATE INDEX background_by_user ON background_tasks (user_id, started_at);
CREATE INDEX subagents_behind ON subagents (user_id, created_at) WHERE background = 1;
CREATE INDEX work_long ON work_items (version) WHERE version > 10;
CREATE INDEX work_by_owner_task ON work_items (user_id, owner_task_id) WHERE owner_task_id <> '';

CREATE TABLE message_names (
    message_id TEXT PRIMARY KEY,
    thread_id  BIGINT NOT NULL,
    user_id    TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX message_names_by_thread ON message_names (thread_id);
CREATE INDEX message_names_by_age ON message_names (created_at);

ALTER TABLE message_names ENABLE ROW LEVEL SECURITY;
ALTER TABLE message_names FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON message_names USING (current_setting('aster.user', true) IN ('*', '=' || user_id));
