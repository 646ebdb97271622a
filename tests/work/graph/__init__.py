"""Tests of the work graph."""
