"""The brain on PostgreSQL: one database for any number of replicas."""
