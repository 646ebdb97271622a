"""Compactions of a task that is forked: the copy gets the views it stands on, and a transcript of its own.

So the original can be deleted without the copy losing anything it is told it can read.
"""

import msgspec

from aster.brain.compaction_records import CompactionRow
from aster.brain.protocol import Brain
from aster.brain.records import ArtifactRow, Row, ThreadKey
from aster.contracts.events import CompactionEvent, Event
from aster.contracts.messages import Digest, Message
from aster.contracts.model import encode
from aster.infra.ids import new_id

_messages = msgspec.json.Decoder(list[Message])


async def copied(brain: Brain, source: ThreadKey, events: list[Event], names: dict[str, str]) -> list[Row]:
    """The rows a fork needs of its compactions; `names` are the new names of what was copied, and grow."""
    rows: list[Row] = []
    for event in events:
        if not isinstance(event, CompactionEvent) or not event.ok or event.compaction_id is None:
            continue
        view = await brain.compaction(source.user_id, event.compaction_id)
        if view is None or view.turn_id not in names:
            continue
        messages = _messages.decode(view.messages)
        for message in messages:
            rows += await _parts(brain, source, message.digest, names)
        rows.append(
            CompactionRow(
                compaction_id=names.setdefault(event.compaction_id, new_id("cmp")),
                turn_id=names[view.turn_id],
                covers=view.covers,
                ok=True,
                messages=encode([_renamed(message, names) for message in messages]),
                created_at=view.created_at,
            )
        )
    return rows


async def _parts(brain: Brain, source: ThreadKey, digest: Digest | None, names: dict[str, str]) -> list[Row]:
    """The parts of a transcript that were not copied yet."""
    rows: list[Row] = []
    for part in () if digest is None else digest.parts:
        found = None if part in names else await brain.artifact(source.user_id, part)
        if found is None:
            continue
        record, data = found
        names[part] = new_id("art")
        rows.append(
            ArtifactRow(
                artifact_id=names[part],
                turn_id=names.get(record.turn_id, record.turn_id),
                tool_call_id=record.tool_call_id,
                name=record.name,
                media_type=record.media_type,
                size=record.size,
                sha256=record.sha256,
                data=data,
                created_at=record.created_at,
            )
        )
    return rows


def _renamed(message: Message, names: dict[str, str]) -> Message:
    if message.digest is None:
        return message
    parts = tuple(names.get(part, part) for part in message.digest.parts)
    return msgspec.structs.replace(message, digest=msgspec.structs.replace(message.digest, parts=parts))
