"""Tests of the model server that ships with the engine."""
