"""The brain in SQL, once for all databases: queries as functions of a connection, in words that each of them knows."""
