"""`aster export-test`: write a recorded turn down as a test that runs anywhere, without a network and without a key."""

import argparse
import re
from pathlib import Path
from pprint import pformat

from aster.cli import hangup
from aster.cli.connection import connected
from aster.cli.exits import Exit
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.model import encode
from aster.contracts.replay import Recording
from aster.engine_core.replaying import exporting

NAME_CHARS = 60
_TEST = '''\
"""A recorded turn, played again: {title}

Every model call is answered and every tool call gets its result from the recording beside this file; nothing is run
and nothing leaves this machine. ASTER_TEST_MODEL=<model>, with the usual LLM_ settings, asks a real model instead.
"""

from pathlib import Path

from aster.engine_core.replaying.rehearsal import rehearse

RECORDING = Path(__file__).with_name("{name}.recording.json")
CALLS = {calls}
ANSWER = {answer}


def test_{name}(tmp_path: Path) -> None:
    played = rehearse(RECORDING, tmp_path)
    assert played.report.replayed.error is None
    assert played.calls == CALLS
    assert played.answer == ANSWER
'''


def command(args: argparse.Namespace) -> int:
    return hangup.run(_run(args))


async def _run(args: argparse.Namespace) -> int:
    async with connected(args) as client:
        made = await client.replays.recording(args.task, args.turn)
    words = [word for word in args.redact if word.strip()]
    if words:
        made = exporting.redacted(made, exporting.without_words(words))
    for path in written(made, args.output, name_of(args.name or made.title or made.task_id)):
        print(path)
    return Exit.OK


def written(made: Recording, directory: Path, name: str) -> tuple[Path, Path]:
    """Write a test and its recording; neither takes the place of a file that is there."""
    calls, answer = exporting.expected(exporting.turn_of(made))
    title = " ".join((made.title or made.task_id).split()).replace("\\", "/").replace('"', "'")
    text = _TEST.format(title=title[:80], name=name, calls=_literal(calls), answer=_literal(answer))
    test, recording = directory / f"test_{name}.py", directory / f"{name}.recording.json"
    directory.mkdir(parents=True, exist_ok=True)
    for path in (test, recording):
        if path.exists():
            raise EngineError(ErrorCode.INVALID_REQUEST, f"{path} is there already. Choose another --name or -o.")
    recording.write_bytes(encode(made) + b"\n")
    test.write_text(text, encoding="utf-8")
    return test, recording


def name_of(text: str) -> str:
    """A name for a test, from whatever text."""
    words = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")[:NAME_CHARS].strip("_")
    return words or "recorded_turn"


def _literal(value: object) -> str:
    return pformat(value, width=110, sort_dicts=False)
