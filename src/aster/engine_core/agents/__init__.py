"""Agents in turns: who answers, with which tools, and what an agent may hand over to another."""
