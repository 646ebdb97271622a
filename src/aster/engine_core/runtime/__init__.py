"""Runtime tasks: commands and agents that work behind a turn, told of to the model and shown to people."""
