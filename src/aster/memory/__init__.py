"""What the engine can find again by meaning and by words."""
