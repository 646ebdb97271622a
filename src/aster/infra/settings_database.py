"""The settings about PostgreSQL: where it is, and how a replica works with it."""

from pydantic import BaseModel, Field, SecretStr


class DatabaseSettings(BaseModel):
    """The brain in a database, for any number of replicas."""

    database_url: SecretStr | None = Field(
        None,
        description="The brain in PostgreSQL (`postgresql://user:password@host/database`) in place of the file, for"
        " any number of replicas. The role must not be a superuser, or rows are not kept apart by user"
        " (docs/operations/postgresql.md).",
    )
    database_readers: int = Field(
        4, ge=1, le=64, description="Connections to PostgreSQL that a replica reads with."
    )
    database_patience_seconds: float = Field(
        30.0, ge=0, description="How long a read waits for a database that has gone away before it fails."
    )
    memory_in_process_records: int = Field(
        100_000,
        ge=1,
        description="Where PostgreSQL has pgvector, a user's store with more records than this is searched by the"
        " database, so that not every replica holds its vectors in memory.",
    )
