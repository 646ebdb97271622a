"""The raven: the one place the engine and the server tell what happened to them.

Every method is synchronous, cheap and never raises: observing the work must not be able to fail it. A turn tells
its ids once, when it starts; all that follows in the same context carries them.
"""

import logging
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import wraps
from time import monotonic
from typing import Any, Concatenate, Final, ParamSpec

from aster.contracts.llm import TokenUsage
from aster.infra.logging import bind_now, bound
from aster.raven.metrics import Metrics, Reading
from aster.raven.observation import Level, Observation, observe_now
from aster.raven.traces import Span, Traces

log = logging.getLogger("aster.raven")

KEPT_PER_MINUTE: Final = 300
"""Observations of one kind kept per minute; a storm is counted and logged, but does not fill the brain."""

_LEVELS: Final[dict[Level, int]] = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
}

P = ParamSpec("P")


def _harmless(
    method: Callable[Concatenate["Raven", P], None],
) -> Callable[Concatenate["Raven", P], None]:
    """The boundary between the work and its observation: what goes wrong beyond it ends here, in the log."""

    @wraps(method)
    def call(self: "Raven", *args: P.args, **kwargs: P.kwargs) -> None:
        try:
            method(self, *args, **kwargs)
        except Exception:  # the boundary named above
            log.exception("An observation failed.", extra={"observation": method.__name__})

    return call


class Raven:
    """`observe` receives every observation worth keeping; the engine writes it into the brain."""

    def __init__(
        self,
        observe: Callable[[Observation], None],
        *,
        version: str = "",
        slow_tool_seconds: float = 10.0,
        traces: Traces | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.metrics = Metrics(version)
        self.traces = traces or Traces()
        self._observe = observe
        self._clock = clock
        self._slow_tool_seconds = slow_tool_seconds
        self._running: set[str] = set()
        self._streams = 0
        self._flood: dict[str, tuple[float, int]] = {}
        self.metrics.bind_gauges(
            {"turns_running": lambda: len(self._running), "streams_open": lambda: self._streams}
        )

    def bind_gauges(self, readings: Mapping[str, Reading]) -> None:
        """Where the engine's own numbers are read; see `aster.raven.metrics.GAUGES` for the names."""
        self.metrics.bind_gauges(readings)

    def bind_redactions(self, *sources: Mapping[tuple[str, str], int]) -> None:
        """Where it is counted how often a secret was taken out."""
        self.metrics.bind_redactions(*sources)

    def render(self) -> bytes:
        """All metrics in the Prometheus text format."""
        return self.metrics.render()

    def close(self) -> None:
        """Send the traces that wait; blocks for a few seconds at most."""
        self.traces.close()

    def turn_span(self, task_id: str, turn_id: str, segment: int = 0) -> AbstractContextManager[Span]:
        """The trace of a turn's segment; what is opened inside belongs to it."""
        return self.traces.turn_span(task_id, turn_id, segment)

    def model_span(
        self, model: str, task_id: str, turn_id: str, *, step: int | None = None, provider: str | None = None
    ) -> AbstractContextManager[Span]:
        return self.traces.model_span(model, task_id, turn_id, step=step, provider=provider)

    def tool_span(
        self, tool: str, task_id: str, turn_id: str, *, step: int | None = None, call_id: str | None = None
    ) -> AbstractContextManager[Span]:
        return self.traces.tool_span(tool, task_id, turn_id, step=step, call_id=call_id)

    @_harmless
    def turn_started(self, key_user: str, task_id: str, turn_id: str, segment: int) -> None:
        bind_now(user_id=key_user, task_id=task_id, turn_id=turn_id)
        self._running.add(turn_id)
        self.metrics.turns_started.inc()
        log.debug("Turn started.", extra={"segment": segment})

    @_harmless
    def turn_ended(self, status: str, seconds: float, stop_reason: str | None = None) -> None:
        self._running.discard(bound().get("turn_id", ""))
        word = self.metrics.words
        self.metrics.turns.labels(word(status), word(stop_reason or "")).inc()
        self.metrics.turn_seconds.labels(word(status)).observe(seconds)
        log.info("Turn ended.", extra={"status": status, "seconds": seconds, "stop_reason": stop_reason})

    @_harmless
    def turn_suspended(self) -> None:
        self._running.discard(bound().get("turn_id", ""))
        self.metrics.suspensions.inc()
        log.info("Turn suspended.")

    @_harmless
    def model_called(
        self,
        model: str,
        seconds: float,
        first_token_seconds: float | None,
        usage: TokenUsage | None,
        cost_usd: float | None,
        outcome: str,
    ) -> None:
        """`outcome` is `ok` or a machine word of what went wrong; a call that never spoke has no first token."""
        metrics = self.metrics
        model = metrics.models(model)
        metrics.model_calls.labels(model, metrics.words(outcome)).inc()
        metrics.model_seconds.labels(model).observe(seconds)
        if first_token_seconds is not None:
            metrics.first_token.labels(model).observe(first_token_seconds)
        if usage is not None:
            metrics.tokens.labels(model, "input").inc(usage.input)
            metrics.tokens.labels(model, "output").inc(usage.output)
            metrics.tokens.labels(model, "cache_read").inc(usage.cache_read)
            metrics.tokens.labels(model, "cache_write").inc(usage.cache_write)
        metrics.cost.labels(model).inc(cost_usd or 0.0)
        log.debug("Model called.", extra={"model": model, "seconds": seconds, "outcome": outcome})

    @_harmless
    def cache_missed(self, cause: str, tokens: int) -> None:
        label = self.metrics.words(cause)
        self.metrics.cache_misses.labels(label).inc()
        self.metrics.cache_missed_tokens.labels(label).inc(tokens)

    @_harmless
    def circuit_changed(self, endpoint: str, state: str) -> None:
        self.metrics.circuits.labels(self.metrics.endpoints(endpoint), self.metrics.words(state)).inc()
        level: Level = "info" if state == "closed" else "warning"
        self.note("circuit_state", level, f"The circuit of {endpoint} is {state}.", endpoint=endpoint, state=state)

    @_harmless
    def fell_back(self, from_model: str, to_model: str, reason: str) -> None:
        self.metrics.fallbacks.labels(self.metrics.words(reason)).inc()
        message = f"{to_model} answers in place of {from_model}."
        self.note("provider_fallback", "warning", message, from_model=from_model, to_model=to_model, reason=reason)

    @_harmless
    def tool_ran(self, tool: str, ok: bool, reason: str | None, seconds: float) -> None:
        """Also notes a slow call and a denied one; the caller need not."""
        metrics = self.metrics
        label = metrics.tool_names(tool)
        metrics.tools.labels(label, "ok" if ok else metrics.words(reason or "failed")).inc()
        metrics.tool_seconds.labels(label).observe(seconds)
        if seconds > self._slow_tool_seconds:
            self.note("slow_tool", "warning", f"{tool} took {seconds:.1f} s.", tool=tool, seconds=seconds)
        if reason == "permission_denied":
            self.note("permission_denied", "warning", f"{tool} was not allowed to run.", tool=tool)

    @_harmless
    def hitl_opened(self, kind: str) -> None:
        self.metrics.hitl.labels(self.metrics.words(kind)).inc()

    @_harmless
    def hitl_resolved(self, kind: str, seconds: float) -> None:
        label = self.metrics.words(kind)
        self.metrics.hitl_answers.labels(label).inc()
        self.metrics.hitl_seconds.labels(label).observe(seconds)

    @_harmless
    def learned(self, kind: str, status: str, items: Mapping[str, int]) -> None:
        """A changeset was kept or decided; `items` counts its items by what became of them."""
        metrics = self.metrics
        metrics.changesets.labels(metrics.words(kind), metrics.words(status)).inc()
        for word, count in items.items():
            metrics.learned_items.labels(metrics.words(word)).inc(count)

    @_harmless
    def tried(self, verdict: str) -> None:
        """A trial has ended so."""
        self.metrics.trials.labels(self.metrics.words(verdict)).inc()

    @_harmless
    def request_served(self, route: str, method: str, status: int, seconds: float) -> None:
        """`route` is the template (`/tasks/{task_id}`), never the path a client sent."""
        label = self.metrics.routes(route)
        self.metrics.requests.labels(label, self.metrics.words(method), str(status)).inc()
        self.metrics.request_seconds.labels(label).observe(seconds)
        log.debug("%s %s", method, route, extra={"status": status, "seconds": seconds})

    @_harmless
    def recovered(self, n: int) -> None:
        self.metrics.recovered.inc(n)
        if n:
            log.info("Resumed %d turns that were running when the engine stopped.", n)

    @_harmless
    def stream_opened(self) -> None:
        self._streams += 1

    @_harmless
    def stream_closed(self) -> None:
        self._streams -= 1

    @_harmless
    def note(self, kind: str, level: Level, message: str, /, **data: Any) -> None:
        """Something an operator may want to find later: logged now, and kept by the engine."""
        seen = observe_now(kind, level, message, data)
        log.log(_LEVELS[level], "%s", seen.message, extra={"kind": kind, "data": seen.data})
        self.metrics.observations.labels(self.metrics.words(kind), level).inc()
        if self._kept(kind):
            self._observe(seen)
        else:
            self.metrics.unobserved.inc()

    def _kept(self, kind: str) -> bool:
        now = self._clock()
        since, count = self._flood.get(kind, (now, 0))
        if now - since >= 60:
            since, count = now, 0
        self._flood[kind] = (since, count + 1)
        return count < KEPT_PER_MINUTE
