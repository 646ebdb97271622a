"""What memory says about itself: what a forget would take along, how much there is, and how well it is."""

from dataclasses import dataclass

from aster.brain.memory_records import Doomed, StoreSize, Use


@dataclass(frozen=True, slots=True)
class Preview:
    """What a forget would take along, and the tasks whose threads say it too."""

    records: list[Doomed]
    sources: list[str]
    uses: list[Use]


@dataclass(frozen=True, slots=True)
class Statistics:
    stores: list[StoreSize]
    pending: int
    model: str | None
    fault: str | None


@dataclass(frozen=True, slots=True)
class State:
    """Who makes vectors (the model's fingerprint), how many records wait for one, how many large shelves are still
    being read after a start, why vectors cannot be made now, why nobody makes any, and where vectors are searched."""

    model: str | None
    pending: int
    cold: int
    fault: str | None
    missing: str | None
    vectors: str
