-- Records that left a shelf or became others, in order and without gaps: whoever holds the shelf in memory follows.

ALTER TABLE memory_shelves ADD COLUMN touched INTEGER NOT NULL DEFAULT 0;

CREATE TABLE memory_touched (
    shelf  INTEGER NOT NULL,
    place  INTEGER NOT NULL,
    number INTEGER NOT NULL,
    PRIMARY KEY (shelf, place)
) WITHOUT ROWID;
