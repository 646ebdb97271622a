"""What a person states outright takes effect at once: a memory that they correct says so from now on, and what they
say of a turn is read without waiting for the night.

It is a changeset like any other, so that it is seen and can be taken back; with the feedback goes what it did.
"""

from typing import Final

from aster.brain.memory_kinds import KindName
from aster.brain.memory_records import MemoryRow
from aster.brain.signals import Signal
from aster.contracts.learning import ChangeItem, Changeset
from aster.learning_centre.workbench import Workbench
from aster.memory.keeping import tells_secret

_SAYS: Final[dict[KindName, str]] = {"fact": "content", "trait": "value", "episode": "description"}
"""The field of a record that a correction in words is the right value of."""
_TOLD: Final = "told:"


async def corrected(bench: Workbench, signal: Signal) -> Changeset | None:
    """Let a memory say what its person says it should; None where that cannot be told from the words."""
    await taken_back(bench, signal.user_id, signal.signal_id)
    if signal.target != "memory" or not signal.correction.strip():
        return None
    found = await bench.memory.found(signal.user_id, [signal.target_id])
    row = next((one for one in found if one.holds and one.kind in _SAYS), None)
    if row is None or tells_secret(signal.correction) or bench.memory.secret_in(signal.correction):
        return None
    changeset, rows = bench.rows(_changeset(bench, signal, row))
    # Before it is done: what is cut off in between can be taken back all the same.
    await bench.store.keep_state(signal.user_id, f"{_TOLD}{signal.signal_id}", changeset.changeset_id, bench.now())
    kept = await bench.store.commit(changeset, rows=rows, apply=True, claim=None, now=bench.now())
    if kept is not None:
        bench.memory.learned(signal.user_id)
    return kept


async def taken_back(bench: Workbench, user_id: str, signal_id: str) -> None:
    """Undo what a signal did, if it did something that still stands."""
    changeset_id = await bench.store.state(user_id, f"{_TOLD}{signal_id}")
    if not changeset_id:
        return
    if await bench.store.decide(user_id, changeset_id, "revert", by=user_id, now=bench.now()) is not None:
        bench.memory.learned(user_id)


def _changeset(bench: Workbench, signal: Signal, row: MemoryRow) -> Changeset:
    item = ChangeItem(
        place=0,
        action="write",
        kind=row.kind,
        fields={**row.fields, _SAYS[row.kind]: signal.correction.strip()},
        sources=(row.id,),
        replaced={row.id: row.text},
        task_id=row.task_id,
        first_seq=row.first_seq,
        last_seq=row.last_seq,
        quote=signal.correction.strip(),
        confidence=1.0,
        event_at=signal.updated_at,
        valid_from=signal.updated_at,
    )
    return Changeset(
        changeset_id=f"feedback-{signal.signal_id}-{signal.updated_at}",
        user_id=signal.user_id,
        kind="feedback",
        status="applied",
        title=f"Corrected 1 {row.kind}",
        created_at=bench.now(),
        night=bench.night,
        items=(item,),
    )
