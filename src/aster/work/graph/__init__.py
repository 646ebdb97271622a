"""The work graph: what is to be done, what waits for what, and who does it."""
