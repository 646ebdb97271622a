"""What a task's model calls were shown, for whoever asks: one call whole, or two side by side.

A call is known by the seq of its manifest. Calls are compared block by block; where the conversation itself is not what
it was, the calls between the two have said so when it happened.
"""

from typing import Literal, NamedTuple, TypeAlias

from aster.brain.protocol import Brain
from aster.brain.records import ThreadKey
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.events import ContextManifest, decode_event
from aster.contracts.events.context import ManifestEntry
from aster.engine_core.context.manifest import TALK, Moved, frame_moved
from aster.engine_core.context.prompt import unfolded

Change: TypeAlias = Literal["same", "changed", "grown", "added", "removed"]


class Difference(NamedTuple):
    """A block in two calls; it is None where it was not there."""

    change: Change
    before: ManifestEntry | None
    after: ManifestEntry | None


class Comparison(NamedTuple):
    """`moved` is the first block of the earlier prompt that the later one does not begin with."""

    before: ContextManifest
    after: ContextManifest
    moved: Moved | None
    blocks: list[Difference]


async def calls(brain: Brain, key: ThreadKey, before: int | None, limit: int) -> list[ContextManifest]:
    """The newest calls, newest first; entries that a call shares with the one before it are left out."""
    return list(reversed(_decoded(await brain.manifests(key, before=before, limit=limit))))


async def call(brain: Brain, key: ThreadKey, seq: int) -> ContextManifest:
    """One call with all its entries."""
    found = _decoded(await brain.manifests(key, after=seq - 1, before=seq + 1))
    if not found:
        raise EngineError(
            ErrorCode.NOT_FOUND,
            f"There is no model call {seq} in this task. GET /tasks/{{task_id}}/context lists them.",
            {"call": seq},
        )
    turn = unfolded(_decoded(await brain.manifests(key, turn_id=found[0].turn_id, before=seq + 1)))
    return turn[-1]


async def compared(brain: Brain, key: ThreadKey, earlier: int | None, later: int | None) -> Comparison:
    """Two calls side by side; left out, they are the newest one and the one before it."""
    earlier, later = await _chosen(brain, key, earlier, later)
    before, after = await call(brain, key, earlier), await call(brain, key, later)
    moved = frame_moved(before.entries, after.entries)
    if moved is None:
        between = _decoded(await brain.manifests(key, after=earlier, before=later + 1))
        turned = (one for one in between if one.moved in TALK)
        moved = next((Moved(one.moved or "", one.moved_source or "") for one in turned), None)
    return Comparison(before, after, moved, _blocks(before.entries, after.entries))


async def _chosen(brain: Brain, key: ThreadKey, earlier: int | None, later: int | None) -> tuple[int, int]:
    if later is None:
        newest = await calls(brain, key, None, 1)
        later = newest[0].seq if newest else None
    if earlier is None and later is not None:
        newest = await calls(brain, key, later, 1)
        earlier = newest[0].seq if newest else None
    if earlier is None or later is None:
        raise EngineError(
            ErrorCode.NOT_FOUND, "There are no two model calls to compare yet. Name an earlier one as `from`."
        )
    return earlier, later


def _blocks(before: tuple[ManifestEntry, ...], after: tuple[ManifestEntry, ...]) -> list[Difference]:
    """Every block of either call, in the order of the later one."""
    old = {_name(entry): entry for entry in before}
    new = {_name(entry): entry for entry in after}
    gone = [Difference("removed", entry, None) for name, entry in old.items() if name not in new]
    return [Difference(_change(old.get(name), entry), old.get(name), entry) for name, entry in new.items()] + gone


def _name(entry: ManifestEntry) -> tuple[str, str]:
    """Several files may give instructions; of everything else there is one."""
    return entry.block, entry.source if entry.block == "instructions" else ""


def _change(before: ManifestEntry | None, after: ManifestEntry) -> Change:
    if before is None:
        return "added"
    if before.hash == after.hash:
        return "same"
    return "grown" if after.block in TALK and after.messages > before.messages else "changed"


def _decoded(found: list[bytes]) -> list[ContextManifest]:
    return [event for data in found if isinstance(event := decode_event(data), ContextManifest)]
