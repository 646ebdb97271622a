-- What several replicas have to agree on: money set aside for calls under way, which replica a background command runs
-- on, what it has said so far, and words that all go by.

CREATE TABLE budget_holds (
    hold_id TEXT PRIMARY KEY,
    user_id TEXT NOT NULL,
    task_id TEXT NOT NULL,
    turn_id TEXT NOT NULL,
    owner TEXT NOT NULL,
    usd DOUBLE PRECISION NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX holds_of_user ON budget_holds (user_id, expires_at);

ALTER TABLE background_tasks ADD COLUMN owner TEXT;
ALTER TABLE background_tasks ADD COLUMN asked_to_stop TEXT;

CREATE TABLE background_output (
    runtime_task_id TEXT NOT NULL,
    part BIGINT NOT NULL,
    thread_id BIGINT NOT NULL,
    user_id TEXT NOT NULL,
    position BIGINT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (runtime_task_id, part)
);
CREATE INDEX background_output_by_thread ON background_output (thread_id);

CREATE TABLE marks (
    name TEXT PRIMARY KEY,
    user_id TEXT NOT NULL,
    value TEXT NOT NULL,
    updated_at BIGINT NOT NULL
);

-- How many batches of rows that no thread tells of each replica has written: what came of one whose answer was lost.
CREATE TABLE writers (
    replica TEXT PRIMARY KEY,
    batches BIGINT NOT NULL,
    written_at BIGINT NOT NULL
);

ALTER TABLE budget_holds ENABLE ROW LEVEL SECURITY;
ALTER TABLE budget_holds FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON budget_holds USING (current_setting('aster.user', true) IN ('*', '=' || user_id));
ALTER TABLE background_output ENABLE ROW LEVEL SECURITY;
ALTER TABLE background_output FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON background_output USING (current_setting('aster.user', true) IN ('*', '=' || user_id));
ALTER TABLE marks ENABLE ROW LEVEL SECURITY;
ALTER TABLE marks FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON marks USING (current_setting('aster.user', true) IN ('*', '=' || user_id));
