-- Projects: what is to be done over many turns (on a board of the work graph), what came of it, what has happened, and
-- the turns that were begun for it.

CREATE TABLE projects (
    number         INTEGER PRIMARY KEY AUTOINCREMENT,
    project_id     TEXT NOT NULL UNIQUE,
    user_id        TEXT NOT NULL,
    title          TEXT NOT NULL,
    title_key      TEXT NOT NULL,
    brief          TEXT NOT NULL,
    notes          TEXT NOT NULL,
    status         TEXT NOT NULL,
    reason         TEXT NOT NULL,
    going          INTEGER NOT NULL,
    max_steps      INTEGER,
    max_seconds    REAL,
    max_tool_calls INTEGER,
    max_usd        REAL,
    used_steps     INTEGER NOT NULL,
    used_ms        INTEGER NOT NULL,
    used_calls     INTEGER NOT NULL,
    used_usd       REAL NOT NULL,
    version        INTEGER NOT NULL,
    created_at     INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL
);
CREATE UNIQUE INDEX projects_by_title ON projects (user_id, title_key);
CREATE INDEX projects_by_user ON projects (user_id, number);

-- The tasks that have worked for a project; `active` is the one project that a task works for now.
CREATE TABLE project_tasks (
    user_id    TEXT NOT NULL,
    project_id TEXT NOT NULL,
    task_id    TEXT NOT NULL,
    active     INTEGER NOT NULL,
    since      INTEGER NOT NULL,
    PRIMARY KEY (user_id, project_id, task_id)
);
CREATE UNIQUE INDEX project_active ON project_tasks (user_id, task_id) WHERE active = 1;

-- Which item of the board is a part of which.
CREATE TABLE project_nodes (
    user_id    TEXT NOT NULL,
    project_id TEXT NOT NULL,
    item_id    TEXT NOT NULL,
    parent_id  TEXT NOT NULL,
    PRIMARY KEY (user_id, project_id, item_id)
);

CREATE TABLE project_artifacts (
    number      INTEGER PRIMARY KEY AUTOINCREMENT,
    artifact_id TEXT NOT NULL UNIQUE,
    user_id     TEXT NOT NULL,
    project_id  TEXT NOT NULL,
    kind        TEXT NOT NULL,
    name        TEXT NOT NULL,
    content     TEXT NOT NULL,
    item_id     TEXT NOT NULL,
    task_id     TEXT NOT NULL,
    turn_id     TEXT NOT NULL,
    created_at  INTEGER NOT NULL
);
CREATE INDEX project_artifacts_by_project ON project_artifacts (user_id, project_id, number);

CREATE TABLE project_records (
    number     INTEGER PRIMARY KEY AUTOINCREMENT,
    record_id  TEXT NOT NULL UNIQUE,
    user_id    TEXT NOT NULL,
    project_id TEXT NOT NULL,
    kind       TEXT NOT NULL,
    message    TEXT NOT NULL,
    actor      TEXT NOT NULL,
    item_id    TEXT NOT NULL,
    task_id    TEXT NOT NULL,
    turn_id    TEXT NOT NULL,
    at         INTEGER NOT NULL
);
CREATE INDEX project_records_by_project ON project_records (user_id, project_id, number);

CREATE TABLE project_advances (
    number     INTEGER PRIMARY KEY AUTOINCREMENT,
    advance_id TEXT NOT NULL UNIQUE,
    user_id    TEXT NOT NULL,
    thread_id  INTEGER,
    project_id TEXT NOT NULL DEFAULT '',
    item_id    TEXT NOT NULL DEFAULT '',
    task_id    TEXT NOT NULL DEFAULT '',
    turn_id    TEXT NOT NULL DEFAULT '',
    status     TEXT NOT NULL,
    reason     TEXT NOT NULL DEFAULT '',
    look_at    INTEGER NOT NULL,
    tool_calls INTEGER NOT NULL DEFAULT 0,
    ms         INTEGER NOT NULL DEFAULT 0,
    usd        REAL NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL DEFAULT 0,
    started_at INTEGER,
    ended_at   INTEGER
);
CREATE INDEX project_advances_open ON project_advances (look_at) WHERE status IN ('due', 'running');
CREATE INDEX project_advances_by_project ON project_advances (user_id, project_id, number);

-- Tasks for which a project was suggested, once.
CREATE TABLE project_suggestions (
    user_id      TEXT NOT NULL,
    thread_id    INTEGER NOT NULL PRIMARY KEY,
    suggested_at INTEGER NOT NULL
);
