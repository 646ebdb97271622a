"""Needles in a long task: what was found out at any depth is found again, by the path that the compacted view names.

The model remembers nothing: it knows what is in its prompt. If the needle is not there, it searches the artifacts that
its prompt names, and answers with what that search shows.
"""

import random
import re
from pathlib import Path

from aster.testing import ModelServer, RecordedCall, Reply, ToolCall
from tests.engine_core.compaction.talk import filler, results, says, text_in
from tests.engine_core.frames import events
from tests.live import live, text_of

TURNS = 120
NEEDLES = 40
_ARTIFACT = re.compile(r"artifact:[\w-]+")
_CODE = re.compile(r"the code of item (\d+) is (\w+)")


def answer(call: RecordedCall) -> Reply:
    wanted = re.search(r"What is the code of item (\d+)\?", call.text)
    if wanted is None:
        return (
            Reply([ToolCall("read_file", {"path": f"{call.text.split()[-1]}.txt"})])
            if call.round == 0
            else says("ok")
        )
    seen = text_in(call) if call.round == 0 else results(call)[-1]
    known = dict(_CODE.findall(seen))
    if wanted[1] in known or call.round:
        return says(f"It is {known.get(wanted[1], 'unknown')}.")
    path = _ARTIFACT.findall(seen)[-1]
    return Reply([ToolCall("grep", {"path": path, "pattern": f"the code of item {wanted[1]} is"})])


async def test_needles_are_found_again(tmp_path: Path) -> None:
    dice = random.Random(7)
    planted = {number: f"{dice.getrandbits(32):08x}" for number in range(NEEDLES)}
    places = dict(zip(dice.sample(range(TURNS), NEEDLES), planted.items(), strict=True))
    for turn in range(TURNS):
        lines = filler(dice.randint(1000, 4000), turn).split("\n")
        if turn in places:
            number, code = places[turn]
            lines.insert(dice.randrange(len(lines)), f"By the way, the code of item {number} is {code}, as agreed.")
        (tmp_path / f"{turn}.txt").write_text("\n".join(lines))
    settings = {"context_window": 32_768, "memory_enabled": False, "allowed_roots": str(tmp_path)}
    async with ModelServer([answer]) as model, live(model, **settings) as aster:
        for turn in range(TURNS):
            await aster.execute(f"Read {turn}")
        found = searched = 0
        for number, code in planted.items():
            frames = await aster.execute(f"What is the code of item {number}?", on_busy="reject")
            found += code in text_of(frames)
            searched += bool(events(frames, "tool_result"))
    assert searched >= 0.5 * NEEDLES, "most of them are out of sight"
    assert found >= 0.95 * NEEDLES
