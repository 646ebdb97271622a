"""What outlives a turn: the rules of it, and what acts by itself. The engine gives it what it needs."""
