"""Texts as vectors: who makes them, how they are told apart, and what happens when nobody can."""
