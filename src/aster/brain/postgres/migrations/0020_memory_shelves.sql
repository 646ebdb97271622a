-- Records that left a shelf or became others, in order and without gaps: whoever holds the shelf in memory follows.

ALTER TABLE memory_shelves ADD COLUMN touched BIGINT NOT NULL DEFAULT 0;

CREATE TABLE memory_touched (
    shelf  BIGINT NOT NULL,
    place  BIGINT NOT NULL,
    number BIGINT NOT NULL,
    PRIMARY KEY (shelf, place)
);

-- Which records a replica is embedding, and until when they are left to it. Only where there are several replicas.
CREATE TABLE memory_claims (
    number      BIGINT PRIMARY KEY,
    taken_by    TEXT NOT NULL,
    taken_until BIGINT NOT NULL
);

-- What is made of users' texts belongs to them through their shelves and records, which are found by an index.
ALTER TABLE memory_vectors ENABLE ROW LEVEL SECURITY;
ALTER TABLE memory_vectors FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON memory_vectors USING (
    (SELECT current_setting('aster.user', true)) = '*'
    OR shelf IN (SELECT shelf
        FROM memory_shelves WHERE user_id = substr(current_setting('aster.user', true), 2))
);
ALTER TABLE memory_touched ENABLE ROW LEVEL SECURITY;
ALTER TABLE memory_touched FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON memory_touched USING (
    (SELECT current_setting('aster.user', true)) = '*'
    OR shelf IN (SELECT shelf
        FROM memory_shelves WHERE user_id = substr(current_setting('aster.user', true), 2))
);
ALTER TABLE memory_tokens ENABLE ROW LEVEL SECURITY;
ALTER TABLE memory_tokens FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON memory_tokens USING (
    (SELECT current_setting('aster.user', true)) = '*'
    OR EXISTS (SELECT 1 FROM memory_receipts r WHERE r.number = memory_tokens.number)
);
ALTER TABLE memory_words ENABLE ROW LEVEL SECURITY;
ALTER TABLE memory_words FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON memory_words USING (
    (SELECT current_setting('aster.user', true)) = '*'
    OR split_part(word, 'x', 1) IN (SELECT CAST(shelf AS TEXT)
        FROM memory_shelves WHERE user_id = substr(current_setting('aster.user', true), 2))
);
