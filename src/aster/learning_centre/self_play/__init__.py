"""Self-play: the agent sets itself challenges in a shut-in place, and what it learns from them has to prove itself."""
