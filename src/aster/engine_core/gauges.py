"""What is shown of the engine as it stands at the moment it is asked: each gauge is read then, and nothing is kept."""

from collections.abc import Callable, Mapping

from aster.brain.protocol import Brain
from aster.engine_core.coordinator import Coordinator
from aster.herald.pools import Pools
from aster.raven.raven import Raven


def bind(
    raven: Raven, brain: Brain, coordinator: Coordinator, herald: Pools, counts: Callable[[], Mapping[str, int]]
) -> None:
    """Let the gauges read these parts; `counts` is what the brain was last counted to hold."""
    raven.bind_gauges(
        {
            "slots_used": lambda: coordinator.slots[0],
            "slots_total": lambda: coordinator.slots[1],
            "turns_suspended": lambda: counts()["suspended"],
            "hitl_open": lambda: counts()["pending"],
            "queue_backlog": lambda: counts()["waiting"],
            "brain_backlog": lambda: brain.backlog,
            "brain_fault": lambda: float(brain.fault is not None),
            "draining": lambda: float(coordinator.draining),
            "circuits_open": lambda: sum(node.breaker.state == "open" for node in herald.nodes),
            "circuits_half_open": lambda: sum(node.breaker.state == "half_open" for node in herald.nodes),
            "quotas_used_up": lambda: sum(node.quota.wait() > 0 for node in herald.nodes),
            "background_waiting": lambda: herald.background.waiting,
            "background_running": lambda: herald.background.running,
            "background_waited_seconds": lambda: herald.background.waited_seconds,
            "commits": lambda: brain.written[0],
            "events": lambda: brain.written[1],
        }
    )
