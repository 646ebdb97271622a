"""A replay with a real sandbox behind the tools: the interpreter itself tells of every process that is started and of
every file that is opened to be written, so whatever would run something shows, whoever it is."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aster.testing import ModelServer, ToolCall
from tests.engine_core.replaying.stage import playing, replayed
from tests.live import live

STARTS = frozenset(
    {"subprocess.Popen", "os.posix_spawn", "os.fork", "os.forkpty", "os.system", "os.exec", "pty.spawn"}
)
TURNS = 6


class Watch:
    """What was started and written while it is `on`; an audit hook stays for good, so it is made once."""

    def __init__(self) -> None:
        self.on = False
        self.workspace = ""
        self.seen: list[str] = []
        sys.addaudithook(self._heard)

    def _heard(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.on:
            return
        if event in STARTS:
            self.seen.append(event)
        elif event == "open" and self._writes(*arguments):
            self.seen.append(f"write {arguments[0]}")

    def _writes(self, path: object, _mode: object, flags: int) -> bool:
        return bool(flags & 3) and self.workspace in str(path)


_watch = Watch()


@pytest.fixture
def watch(tmp_path: Path) -> Iterator[Watch]:
    _watch.workspace, _watch.seen, _watch.on = str(tmp_path / "workspace"), [], True
    yield _watch
    _watch.on = False


def plan(number: int) -> list[ToolCall]:
    return [
        ToolCall("bash", {"command": f"echo {number} >> bash.txt; cat bash.txt"}),
        ToolCall("write_file", {"path": f"f{number}.txt", "content": f"{number}"}),
        ToolCall("read_file", {"path": f"f{number}.txt"}),
        ToolCall("glob", {"pattern": "*.txt"}),
    ]


async def test_a_replay_starts_no_process_and_writes_no_file(tmp_path: Path, watch: Watch) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    async with (
        ModelServer([playing(plan)]) as model,
        live(
            model,
            sandbox="auto",
            allowed_roots=str(workspace),
            permission_bypass_allowed=True,
            permission_mode="bypass",
        ) as engine,
    ):
        assert engine.engine.sandbox.report.backend not in ("off", "unavailable"), engine.engine.sandbox.report
        watch.seen.clear()
        for number in range(TURNS):
            frames = await engine.execute(f"turn {number}", f"t{number}")
            assert not [frame for frame in frames if frame.event == "tool_error"], frames
        assert sum(one in STARTS for one in watch.seen) >= TURNS, "the watch sees the sandbox at work"
        written = {path.name: path.read_bytes() for path in workspace.iterdir()}
        assert len(written) == TURNS + 1
        watch.seen.clear()
        for number in range(TURNS):
            report = await replayed(engine, f"t{number}")
            assert (report["same"], report["replayed"]["calls"]) == (True, len(plan(number)))

        def other(number: int) -> list[ToolCall]:
            return [ToolCall("bash", {"command": "rm -f bash.txt"}), *plan(number)]

        model.script([playing(other)])
        for number in range(TURNS):
            assert (await replayed(engine, f"t{number}"))["replayed"]["unrecorded"] == 1
        assert watch.seen == []
        assert {path.name: path.read_bytes() for path in workspace.iterdir()} == written
