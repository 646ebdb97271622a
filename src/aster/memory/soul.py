"""Who the agent is before a user has changed it: the soul that is shipped with the engine."""

from functools import cache
from importlib.resources import files

from aster.brain.memory_records import MemoryRow
from aster.contracts.memory import Soul
from aster.contracts.model import decode

SEED_ID = "soul-core"


@cache
def seed() -> Soul:
    return decode(files("aster").joinpath("catalog/core_soul.json").read_bytes(), Soul)


def core_soul(user_id: str) -> MemoryRow:
    """The shipped soul as version 0 of a user's own; it is kept by nobody, so nobody can lose it."""
    core = seed()
    fields = {
        "identity": core.identity,
        "values": list(core.values),
        "patterns": list(core.patterns),
        "voice": core.voice,
        "version": 0,
    }
    return MemoryRow(
        id=SEED_ID,
        user_id=user_id,
        kind="soul",
        fields=fields,
        created_at=0,
        event_at=0,
        valid_from=0,
        extractor="core",
    )
