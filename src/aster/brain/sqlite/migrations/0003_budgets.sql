-- What every model call used and cost, and the limits people set. A price is fixed when its row is written, and a
-- row outlives its task: deleting a task does not give money back.

CREATE TABLE usage (
    usage_id           INTEGER PRIMARY KEY,
    user_id            TEXT NOT NULL,
    task_id            TEXT NOT NULL,
    turn_id            TEXT NOT NULL,
    model              TEXT NOT NULL,
    input_tokens       INTEGER NOT NULL,
    output_tokens      INTEGER NOT NULL,
    cache_read_tokens  INTEGER NOT NULL,
    cache_write_tokens INTEGER NOT NULL,
    cost_usd           REAL,
    ts                 INTEGER NOT NULL
);
CREATE INDEX usage_by_user ON usage (user_id, ts, cost_usd);
CREATE INDEX usage_by_task ON usage (user_id, task_id, cost_usd);
CREATE INDEX usage_by_time ON usage (ts);

CREATE TABLE budgets (
    user_id    TEXT NOT NULL,
    scope      TEXT NOT NULL,
    task_id    TEXT NOT NULL,
    owner      TEXT NOT NULL,
    limit_usd  REAL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (user_id, scope, task_id, owner)
) WITHOUT ROWID;

-- Calls made before there was a table. What a fork copied was paid for where it was copied from.
WITH forks AS (
    SELECT thread_id, max(seq) AS seq FROM thread_events
    WHERE type = 'task_lifecycle' AND json_extract(CAST(data AS TEXT), '$.phase') = 'forked'
    GROUP BY thread_id
)
INSERT INTO usage (
    user_id, task_id, turn_id, model, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost_usd, ts
)
SELECT
    e.user_id,
    h.task_id,
    e.turn_id,
    json_extract(CAST(e.data AS TEXT), '$.model'),
    coalesce(json_extract(CAST(e.data AS TEXT), '$.input_tokens'), 0),
    coalesce(json_extract(CAST(e.data AS TEXT), '$.output_tokens'), 0),
    coalesce(json_extract(CAST(e.data AS TEXT), '$.cache_hit_tokens'), 0),
    coalesce(json_extract(CAST(e.data AS TEXT), '$.cache_write_tokens'), 0),
    json_extract(CAST(e.data AS TEXT), '$.cost_usd'),
    e.ts
FROM thread_events e
JOIN threads h USING (thread_id)
LEFT JOIN forks f USING (thread_id)
WHERE e.type = 'usage' AND e.seq > coalesce(f.seq, 0);
