"""Skills from what recurs: calls that a person's turns keep making become a composed skill that is proposed to the
person, and that nothing but the person's word makes usable.

Each pattern is one changeset whose id is made of it, so that the same is never proposed twice, whatever was decided
about it the first time. No model is asked.
"""

import re
from collections.abc import Sequence
from hashlib import sha256
from typing import Any, Final

import msgspec

from aster.brain.records import ThreadKey, TurnRecord
from aster.contracts.blocks import ToolResultBlock, ToolUseBlock, text_of
from aster.contracts.learning import SUCH_AS, ChangeItem, Changeset
from aster.contracts.messages import Message
from aster.contracts.model import to_builtins
from aster.engine_core.history import spoken
from aster.learning_centre.patterns import Call, Key, Pattern, Seen, found, key_of
from aster.learning_centre.sampling import turns
from aster.learning_centre.workbench import Workbench
from aster.memory.grounding import own_words
from aster.memory.keeping import tells_secret
from aster.skills.shelf import MOST_COMPOSED
from aster.skills.skill import DESCRIPTION_CHARS, one_line

NAME: Final = "skills"
MINED: Final = "skills:mined"
"""The state that says up to when everything was looked at."""
MOST_KNOWN: Final = 1_000
QUOTED: Final = 200
_UNFIT: Final = re.compile(r"[^A-Za-z0-9_]+")


class _Recorded(msgspec.Struct):
    messages: list[Message] = []
    request: dict[str, Any] = {}


class Skills:
    name = NAME
    rounds = 3
    idle_seconds = 900.0
    cooldown_seconds = 7200.0

    async def users(self, bench: Workbench) -> Sequence[str]:
        remembered = [user_id for user_id, _ in await bench.services.brain.memory.users()]
        return list(dict.fromkeys((*remembered, *await bench.store.waiting_users(bench.now()))))

    async def due(self, bench: Workbench, user_id: str) -> bool:
        """When something has happened in a task since everything was looked at."""
        newest = await _newest(bench, user_id)
        return bool(newest) and newest != await bench.store.state(user_id, MINED)

    async def run(self, bench: Workbench, user_id: str) -> Changeset | None:
        """Propose the pattern that saves most of those that were not proposed yet."""
        await bench.stand_back()
        newest = await _newest(bench, user_id)
        ended = await turns(bench.services.brain, user_id)
        seen = [one for key, turn in ended if (one := await _seen(bench, key, turn)) is not None]
        taken = await bench.services.skills.of(user_id)
        made = [skill.composed for skill in taken.values() if skill.composed is not None]
        known = [*map(key_of, made), *await _proposed(bench, user_id)]
        tools = [tool.definition.name for tool in await bench.engine.tools_of(user_id)]

        def secret(text: str) -> bool:
            return bench.memory.secret_in(text) or tells_secret(text)

        if len(made) < MOST_COMPOSED:
            for pattern in found(seen, known, tools, secret):
                changeset = _changeset(bench, user_id, pattern, {*taken, *tools}, secret(pattern.turns[0].question))
                kept = await bench.store.commit(changeset, apply=False, claim=None, now=bench.now())
                if kept is not None:
                    bench.services.skills.changed(user_id)
                    return kept
        await bench.store.keep_state(user_id, MINED, newest, bench.now())
        return None


async def _newest(bench: Workbench, user_id: str) -> str:
    """When something last happened in a task of a person's; empty when nothing has."""
    found = await bench.services.brain.threads(user_id, limit=1)
    return f"{found[0].updated_at} {found[0].task_id}" if found else ""


async def _seen(bench: Workbench, key: ThreadKey, turn: TurnRecord) -> Seen | None:
    """A recorded turn with its calls; None when it made none, or no person asked for it."""
    row = await bench.services.brain.trajectory(key.user_id, turn.turn_id)
    if row is None or turn.status != "completed":
        return None
    recorded = msgspec.json.decode(row.record, type=_Recorded)
    blocks = [block for message in recorded.messages for block in message.content]
    results = {block.tool_use_id: block for block in blocks if isinstance(block, ToolResultBlock)}
    calls = tuple(
        Call(block.name, block.input, _ok(block, results.get(block.id)), _said(results.get(block.id)))
        for block in blocks
        if isinstance(block, ToolUseBlock)
    )
    if not calls or recorded.request.get("method"):
        return None
    question = next((text_of(message.content) for message in recorded.messages if spoken(message)), "")
    return Seen(key.task_id, turn.turn_id, turn.first_seq, turn.last_seq or turn.first_seq, question, calls)


def _ok(call: ToolUseBlock, result: ToolResultBlock | None) -> bool:
    return call.invalid is None and result is not None and not result.is_error


def _said(result: ToolResultBlock | None) -> str:
    return "" if result is None else text_of(result.content)


async def _proposed(bench: Workbench, user_id: str) -> list[Key]:
    """What was proposed before, whatever became of it."""
    before = await bench.store.changesets(user_id, limit=MOST_KNOWN, kind="skills")
    return [tuple(item.fields["calls"]) for one in before for item in one.items if item.fields.get("calls")]


def _changeset(bench: Workbench, user_id: str, pattern: Pattern, taken: set[str], secretive: bool) -> Changeset:
    newest = pattern.turns[0]
    steps = [step.tool for step in pattern.composed.steps]
    quote = "" if secretive else one_line(own_words(newest.question), QUOTED)
    wanted = f'{SUCH_AS}{quote}"' if quote else ""
    described = f"Calls {', then '.join(steps)}. Seen in {len(pattern.turns)} turns{wanted}"
    name = _named(steps, taken)
    item = ChangeItem(
        place=0,
        action="skill",
        kind="composed",
        fields={
            "name": name,
            "description": one_line(described, DESCRIPTION_CHARS),
            "composed": to_builtins(pattern.composed),
            "calls": list(pattern.key),
            "turns": [seen.turn_id for seen in pattern.turns],
        },
        task_id=newest.task_id,
        first_seq=newest.first_seq,
        last_seq=newest.last_seq,
        quote=quote,
    )
    said = "\x1f".join((user_id, *pattern.key))
    return Changeset(
        changeset_id=f"skills-{sha256(said.encode('utf-8', 'surrogatepass')).hexdigest()[:24]}",
        user_id=user_id,
        kind="skills",
        status="proposed",
        title=f"A skill of what recurs: {name}",
        created_at=bench.now(),
        night=bench.night,
        items=(item,),
    )


def _named(steps: Sequence[str], taken: set[str]) -> str:
    plain = _UNFIT.sub("_", "_then_".join(dict.fromkeys(steps)))[:56].strip("_")
    return next(each for each in (plain, *(f"{plain}_{n}" for n in range(2, 1_000))) if each not in taken)
