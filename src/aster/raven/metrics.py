"""Metrics: is it healthy, how busy, how slow, how much, in the Prometheus text format.

Each engine has a registry of its own, so that two engines in one process never add up. Label values come from
closed sets or are capped (`other`), so that no client can make the registry grow without end.
"""

import logging
import platform
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

log = logging.getLogger("aster.raven")

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
OTHER: Final = "other"
MOST_LABELS: Final = 64

GAUGES: Final[dict[str, str]] = {
    "turns_running": "Turns that are running in this process.",
    "turns_suspended": "Turns that wait for a human.",
    "slots_used": "Slots taken by running turns.",
    "slots_total": "Slots there are.",
    "queue_backlog": "Messages that wait for their turn.",
    "hitl_open": "Requests to a human that have no answer yet.",
    "streams_open": "Event streams that clients hold open.",
    "brain_backlog": "Units that wait for the next commit.",
    "brain_fault": "1 while the brain cannot be written, else 0.",
    "draining": "1 while the engine shuts down, else 0.",
    "circuits_open": "Model endpoints that are left alone after failing too often.",
    "circuits_half_open": "Model endpoints that are being tried again.",
    "quotas_used_up": "Model endpoints that are not asked until a limit of the provider is reset.",
    "background_waiting": "Background model calls that wait until nobody else does.",
    "background_running": "Background model calls under way.",
    "learning_backlog": "Things that happened and have not been learned from.",
    "learning_set_aside": "Things that could not be learned from, set aside after several tries.",
}
COUNTERS: Final[dict[str, str]] = {
    "commits": "Commits of the brain.",
    "events": "Events written to threads.",
    "background_waited_seconds": "Seconds that background model calls have waited for their place.",
}

_FAST = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_SLOW = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 40.0, 80.0, 160.0, 320.0)
_HUMAN = (1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3600.0, 14_400.0, 86_400.0, 259_200.0)

Reading = Callable[[], float]


class Capped:
    """Label values in the order they came; from the `most`-th on a new one is `other`."""

    def __init__(self, most: int = MOST_LABELS) -> None:
        self._most = most
        self._known: set[str] = set()

    def __call__(self, value: str) -> str:
        if value in self._known:
            return value
        if len(self._known) >= self._most:
            return OTHER
        self._known.add(value)
        return value


class _Readings(Collector):
    """Values that live elsewhere in the engine, read when somebody asks; one that fails is left out."""

    def __init__(self) -> None:
        self.readings: dict[str, Reading] = {}

    def collect(self) -> list[Metric]:
        found: list[Metric] = []
        for name, read in self.readings.items():
            try:
                value = float(read())
            except Exception:  # the boundary to the engine's callbacks: an absent value is honest
                log.debug("the reading %s is left out", name, exc_info=True)
                continue
            if name in COUNTERS:
                found.append(CounterMetricFamily(f"aster_{name}", COUNTERS[name], value=value))
            else:
                found.append(GaugeMetricFamily(f"aster_{name}", GAUGES[name], value=value))
        return found


class _Redactions(Collector):
    """How often the engine and its logs took out a secret, where and of what kind; both come from closed sets."""

    name: Final = "aster_secrets_redacted"
    labels: Final = ("where", "kind")

    def __init__(self) -> None:
        self.sources: tuple[Mapping[tuple[str, str], int], ...] = ()

    def collect(self) -> list[Metric]:
        family = CounterMetricFamily(self.name, "Secrets taken out of what is kept or sent.", labels=self.labels)
        for counts in self.sources:
            for labels, count in list(counts.items()):
                family.add_metric(labels, count)
        return [family]


class _Shown(Collector):
    """A registry without the creation times, which double the samples and which nobody asks for."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry

    def collect(self) -> Iterator[Metric]:
        for metric in self._registry.collect():
            metric.samples = [sample for sample in metric.samples if not sample.name.endswith("_created")]
            yield metric


class Metrics:
    """Every metric of one engine."""

    def __init__(self, version: str) -> None:
        self.registry = CollectorRegistry()
        self.label_names: dict[str, tuple[str, ...]] = {}
        self._readings = _Readings()
        self.registry.register(self._readings)
        self._redactions = _Redactions()
        self.registry.register(self._redactions)
        self.label_names[_Redactions.name] = _Redactions.labels
        ProcessCollector(registry=self.registry)
        self.label_names["aster_build_info"] = about = ("version", "python")
        build = Gauge("aster_build_info", "What is running.", about, registry=self.registry)
        build.labels(version, platform.python_version()).set(1)

        counter, histogram = self._counter, self._histogram
        self.turns_started = counter("turns_started", "Turn segments started.")
        self.turns = counter("turns", "Turns ended.", "status", "stop_reason")
        self.turn_seconds = histogram("turn_seconds", "Duration of a turn.", _SLOW, "status")
        self.suspensions = counter("turn_suspensions", "Times a turn was suspended.")
        self.recovered = counter("turns_recovered", "Turns resumed after a restart.")

        self.model_calls = counter("model_calls", "Model calls.", "model", "outcome")
        self.model_seconds = histogram("model_call_seconds", "Duration of a model call.", _SLOW, "model")
        self.first_token = histogram(
            "model_first_token_seconds", "Time until a model call's first token.", _SLOW, "model"
        )
        self.tokens = counter("tokens", "Tokens by bucket.", "model", "bucket")
        self.cost = counter("cost_usd", "Cost of model calls in US dollars.", "model")

        self.cache_misses = counter(
            "cache_misses", "Calls that read far less from a provider's cache than was left there.", "cause"
        )
        self.cache_missed_tokens = counter("cache_missed_tokens", "Tokens those calls paid for again.", "cause")

        self.circuits = counter("circuit_changes", "Circuits that opened or closed.", "endpoint", "state")
        self.fallbacks = counter("provider_fallbacks", "Turns that went on with another model.", "reason")

        self.tools = counter("tool_calls", "Tool calls.", "tool", "outcome")
        self.tool_seconds = histogram("tool_seconds", "Duration of a tool call.", _FAST, "tool")
        self.hitl = counter("hitl_requests", "Requests to a human.", "kind")
        self.hitl_answers = counter("hitl_answers", "Answers of a human.", "kind")
        self.hitl_seconds = histogram("hitl_wait_seconds", "Time until a human answered.", _HUMAN, "kind")

        self.changesets = counter("changesets", "Changesets of the learning centre.", "kind", "status")
        self.learned_items = counter("learned_items", "Items of changesets by what became of them.", "status")
        self.trials = counter("trials", "Trials of learned things that have a verdict.", "verdict")

        self.requests = counter("http_requests", "HTTP requests.", "route", "method", "status")
        self.request_seconds = histogram(
            "http_request_seconds", "Time until the answer to an HTTP request began.", _FAST, "route"
        )
        self.observations = counter("observations", "Observations made.", "kind", "level")
        self.unobserved = counter("observations_dropped", "Observations not kept because there were too many.")

        self.models, self.tool_names, self.routes = Capped(), Capped(), Capped(256)
        self.endpoints = Capped()
        self.words = Capped()
        """Machine words that label an outcome: stop reasons, failure reasons, kinds."""

    def _counter(self, name: str, about: str, *labels: str) -> Counter:
        self.label_names[f"aster_{name}"] = labels
        return Counter(f"aster_{name}", about, labels, registry=self.registry)

    def _histogram(self, name: str, about: str, buckets: tuple[float, ...], *labels: str) -> Histogram:
        self.label_names[f"aster_{name}"] = labels
        return Histogram(f"aster_{name}", about, labels, buckets=buckets, registry=self.registry)

    def bind_gauges(self, readings: Mapping[str, Reading]) -> None:
        """Read these (names of `GAUGES` and `COUNTERS`) from the engine whenever somebody asks."""
        unknown = set(readings) - GAUGES.keys() - COUNTERS.keys()
        if unknown:
            raise ValueError(f"No such gauge: {', '.join(sorted(unknown))}. See aster.raven.metrics.GAUGES.")
        self._readings.readings.update(readings)

    def bind_redactions(self, *sources: Mapping[tuple[str, str], int]) -> None:
        """Read from these how often a secret was taken out, by where and kind; no two may count at one place."""
        self._redactions.sources = sources

    def render(self) -> bytes:
        return generate_latest(_Shown(self.registry))
