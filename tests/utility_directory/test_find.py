"""Finding by name, kind, size and age; links and odd names do no harm; through HTTP as by hand."""

import os
import time
from pathlib import Path

import pytest

from aster.contracts.tools import Effect
from aster.utility_directory.find import MAX_FOUND
from tests.utility_directory.conftest import Bench

HOUR = 3600
FILES = {
    "new.log": (10, 0),
    "old.LOG": (2000, 50),
    ".env": (5, 3),
    "src/deep/mid.log": (300, 5),
    ".git/g.log": (1, 0),
}


@pytest.fixture
def tree(bench: Bench, tmp_path: Path) -> Bench:
    for name, (size, hours) in FILES.items():
        path = bench.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * size)
        when = time.time() - hours * HOUR
        os.utime(path, (when, when))
    for directory in ("src", "src/deep", ".git"):
        os.utime(bench.root / directory, (0, time.time() - 9 * HOUR))
    (tmp_path / "outside.log").write_text("x")
    (bench.root / "out").symlink_to(tmp_path)
    (bench.root / "escape.log").symlink_to(tmp_path / "outside.log")
    (bench.root / "inner.log").symlink_to("new.log")
    os.utime(bench.root / "inner.log", (0, time.time() - 100 * HOUR), follow_symlinks=False)
    return bench


def paths(text: str) -> list[str]:
    return [line.split("  ")[-1] for line in text.splitlines()]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"name": "*.log"}, ["new.log", "src/deep/mid.log", "inner.log (link)"]),
        ({"name": "*.log", "sort": "name"}, ["inner.log (link)", "new.log", "src/deep/mid.log"]),
        ({"name": "*.log", "ignore_case": True, "type": "file"}, ["new.log", "src/deep/mid.log", "old.LOG"]),
        (
            {"name": "*.{log,LOG}", "sort": "largest", "limit": 1},
            ["old.LOG", "[1 of 4; narrow the search to see others]"],
        ),
        ({"name": "*", "type": "directory", "sort": "name"}, [".git/", "src/", "src/deep/"]),
        ({"name": "*", "min_bytes": 300}, ["src/deep/mid.log", "old.LOG"]),
        ({"name": "*", "min_bytes": 6, "max_bytes": 300}, ["new.log", "src/deep/mid.log"]),
        ({"name": "*", "newer_than_hours": 4, "type": "file"}, ["new.log", ".env"]),
        ({"name": "*", "older_than_hours": 4.5, "type": "file"}, ["src/deep/mid.log", "old.LOG"]),
        ({"name": "mid.log", "path": "src"}, ["src/deep/mid.log"]),
        ({"name": "*.log", "type": "link"}, ["inner.log (link)"]),
        ({"name": "nothing"}, ["Nothing matches."]),
    ],
)
async def test_what_is_found(tree: Bench, given: dict[str, object], expected: list[str]) -> None:
    assert paths(await tree.text("find", **given)) == expected


async def test_a_line_tells_time_and_size(tree: Bench) -> None:
    os.utime(tree.root / "old.LOG", (0, 1_700_000_000))
    assert await tree.text("find", name="old.LOG") == "2023-11-14 22:13       2,000  old.LOG"
    os.utime(tree.root / "old.LOG", (0, 1 << 40))
    assert (await tree.text("find", name="old.LOG")).endswith("  2,000  old.LOG")


@pytest.mark.parametrize("path", ["..", "/etc", "out"])
async def test_outside_is_denied(tree: Bench, path: str) -> None:
    assert tree.decide("find", name="*", path=path).behavior == "deny"
    assert (await tree.error("find", name="*", path=path))[0] == "path_refused"


async def test_what_it_cannot_do_is_said(tree: Bench) -> None:
    assert (await tree.error("find", name="src/*.log"))[0] == "invalid_input"
    assert (await tree.error("find", name="*", path="missing"))[0] == "not_found"
    assert (await tree.error("find", name="*", path="new.log"))[0] == "path_refused"


async def test_long_lists_are_cut_and_odd_names_quoted(bench: Bench) -> None:
    for number in range(MAX_FOUND + 5):
        (bench.root / f"{number:04}").touch()
    outcome = await bench.run("find", name="*", sort="name")
    assert outcome.data == {"found": MAX_FOUND + 5, "complete": False}
    (bench.root / os.fsdecode(b"z\n\xff")).touch()
    assert (await bench.text("find", name="z*")).endswith('"z\\n\\ufffd"')


async def test_it_only_looks(bench: Bench) -> None:
    prepared = bench.prepared("find", name="x")
    assert (prepared.effect, prepared.concurrent) == (Effect.PURE, True)
