"""Traces, for those who have asked for them: spans of turns, model calls and tool calls.

Without an endpoint, or without the `otel` extra, everything here does nothing and OpenTelemetry is not even
imported; the loop opens its spans either way and never asks which it is.
"""

import logging
from contextlib import AbstractContextManager
from types import TracebackType

from aster.contracts.llm import TokenUsage

log = logging.getLogger("aster.raven")


class Span:
    """A span that goes nowhere; the context manager of itself."""

    def set(
        self,
        *,
        seq: int | None = None,
        usage: TokenUsage | None = None,
        cost_usd: float | None = None,
        model: str | None = None,
        finish_reason: str | None = None,
        first_token_seconds: float | None = None,
        ok: bool | None = None,
        error: str | None = None,
    ) -> None:
        """Add what became known; `ok=False`, or `error` with a machine word, marks the span as failed."""

    def __enter__(self) -> "Span":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None


_NOWHERE = Span()


class Traces:
    """Traces that go nowhere."""

    def turn_span(self, task_id: str, turn_id: str, segment: int = 0) -> AbstractContextManager[Span]:
        """A turn, or a segment of it; the spans opened inside become its children."""
        return _NOWHERE

    def model_span(
        self, model: str, task_id: str, turn_id: str, *, step: int | None = None, provider: str | None = None
    ) -> AbstractContextManager[Span]:
        """One model call."""
        return _NOWHERE

    def tool_span(
        self, tool: str, task_id: str, turn_id: str, *, step: int | None = None, call_id: str | None = None
    ) -> AbstractContextManager[Span]:
        """One tool call."""
        return _NOWHERE

    def close(self) -> None:
        """Send what waits."""


def connect(endpoint: str | None, *, version: str = "") -> Traces:
    """Traces to an OTLP/HTTP collector, or to nowhere."""
    if not endpoint:
        return Traces()
    try:
        from aster.raven.otlp import OtlpTraces
    except ImportError:
        log.warning(
            "OTEL_EXPORTER_OTLP_ENDPOINT is set, but traces need the `otel` extra: "
            "pip install 'aster-engine[otel]'. No traces are sent."
        )
        return Traces()
    return OtlpTraces(endpoint, version=version)
