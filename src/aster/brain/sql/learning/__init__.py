"""Learning in SQL: small modules of queries, run by the writer or by a reader."""
