"""What outlives a turn, in SQL: one file or two for each noun."""
