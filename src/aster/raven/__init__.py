"""Observability: what happens in the engine as metrics, traces, log lines and rows an operator can query."""
