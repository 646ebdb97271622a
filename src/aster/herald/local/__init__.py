"""A small real model on this machine: its weights, its process, and the short language it is spoken to in."""
