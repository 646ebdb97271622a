"""How a turn looks in a terminal, and how it reads in a pipe."""
