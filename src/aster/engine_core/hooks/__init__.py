"""Hooks: what the operator has installed to watch, stop or change what an agent does, at named points of a turn."""
