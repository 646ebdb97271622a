"""Memory in the brain's SQLite file: small modules of queries, run by the writer or by a reader."""
