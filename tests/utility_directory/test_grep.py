"""Searching contents: what is found, what is left out, and an expression that would never end."""

import asyncio
import os
import re
import shutil
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from aster.contracts.tools import Effect
from aster.infra.settings import Settings
from aster.sandbox.workspaces import Workspaces
from aster.utility_directory.grep import MAX_MATCHES
from aster.utility_directory.grep_worker import TWINS
from aster.utility_directory.tool import ToolLimits
from tests.sandbox.processes import open_files
from tests.utility_directory.conftest import Bench, said


@pytest.fixture
def tree(bench: Bench, tmp_path: Path) -> Bench:
    for name, text in {
        "a.py": "import os\nx = 1\nprint(x)\n",
        "b.txt": "Import nothing\n",
        "src/c.py": "one\ntwo\nthree\nfour\nfive\nsix\nimport re",
        ".git/d.py": "import git\n",
        "node_modules/e.py": "import e\n",
        "latin": "caf\udce9 import\n",
    }.items():
        path = bench.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, errors="surrogateescape")
    (bench.root / "binary").write_bytes(b"import\x00")
    (tmp_path / "secret").write_text("import secret\n")
    (bench.root / "link").symlink_to(tmp_path / "secret")
    (bench.root / "out").symlink_to(tmp_path)
    return bench


async def test_lines_are_found_with_their_places(tree: Bench) -> None:
    text = await tree.text("grep", pattern="^import")
    assert text.splitlines() == ["a.py:1: import os", "src/c.py:7: import re"]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"pattern": "IMPORT", "ignore_case": True, "glob": "*.txt"}, ["b.txt:1: Import nothing"]),
        ({"pattern": "import", "path": "src"}, ["src/c.py:7: import re"]),
        ({"pattern": "import", "path": "src/c.py"}, ["src/c.py:7: import re"]),
        ({"pattern": "import", "glob": "**/*.{py,md}"}, ["a.py:1: import os", "src/c.py:7: import re"]),
        ({"pattern": "import", "glob": "src/*.py"}, ["src/c.py:7: import re"]),
        ({"pattern": r"caf. import"}, ["latin:1: caf\ufffd import"]),
        ({"pattern": "x", "path": "a.py"}, ["a.py:2: x = 1", "a.py:3: print(x)"]),
        ({"pattern": r"x = \d$"}, ["a.py:2: x = 1"]),
        ({"pattern": "import", "path": "node_modules"}, ["node_modules/e.py:1: import e"]),
        ({"pattern": "nowhere"}, ["No matches."]),
        (
            {"pattern": "two|six", "context": 1},
            [
                "src/c.py-1- one",
                "src/c.py:2: two",
                "src/c.py-3- three",
                "--",
                "src/c.py-5- five",
                "src/c.py:6: six",
                "src/c.py-7- import re",
            ],
        ),
    ],
)
async def test_searches(tree: Bench, given: dict[str, object], expected: list[str]) -> None:
    assert (await tree.text("grep", **given)).splitlines() == expected


async def test_links_lead_nowhere(tree: Bench) -> None:
    assert "secret" not in await tree.text("grep", pattern="import")
    for path in ("link", "out", "../..", "/etc"):
        assert tree.decide("grep", pattern="x", path=path).behavior == "deny"
        assert (await tree.error("grep", pattern="x", path=path))[0] == "path_refused"
    assert (await tree.error("grep", pattern="x", path="missing"))[0] == "not_found"


async def test_what_the_tools_may_not_read_is_not_searched(tree: Bench) -> None:
    (tree.root / "a.py").chmod(0)
    assert "a.py" not in await tree.text("grep", pattern="import")


async def test_the_engines_own_data_is_not_searched(bench: Bench, settings: Settings, tmp_path: Path) -> None:
    around = settings.model_copy(update={"allowed_roots": str(tmp_path)})
    workspace = await Workspaces(around, bench.context.sandbox).of("local", "t1")
    for name in ("data/brain", "data/deep/brain", "project"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("needle")
        (tmp_path / name).chmod(0o644)
    wide = Bench(replace(bench.context, workspace=workspace))
    assert await wide.text("grep", pattern="needle") == "project:1: needle"
    assert "data/brain" not in await wide.text("glob", pattern="**/*")
    assert (await wide.error("read_file", path="data/brain"))[0] == "path_refused"


async def test_many_matches_are_cut(bench: Bench) -> None:
    (bench.root / "f").write_text("x\n" * 500)
    lines = (await bench.text("grep", pattern="x*")).splitlines()
    assert len(lines) == MAX_MATCHES + 1
    assert "narrower" in lines[-1]
    assert lines[MAX_MATCHES - 1] == f"f:{MAX_MATCHES}: x"


async def test_long_lines_are_cut(bench: Bench) -> None:
    (bench.root / "f").write_text("x" * 10_000)
    assert len(await bench.text("grep", pattern="x")) < 400


async def test_a_wrong_expression_is_explained(bench: Bench) -> None:
    reason, text = await bench.error("grep", pattern="a(b")
    assert reason == "invalid_input"
    assert "unterminated subpattern" in text


async def test_an_expression_without_end_is_ended_and_the_loop_stays_free(bench: Bench) -> None:
    impatient = Bench(replace(bench.context, limits=ToolLimits(search_seconds=0.8)))
    (bench.root / "f").write_text("a" * 40 + "b")
    task = asyncio.create_task(impatient.error("grep", pattern="(a+)+$"))
    rounds = 0
    while not task.done():
        await asyncio.sleep(0.01)
        rounds += 1
    assert (await task)[0] == "timeout"
    assert rounds > 20


async def test_a_cancelled_search_is_gone(bench: Bench) -> None:
    (bench.root / "f").write_text("a" * 40 + "b")
    before, others = open_files(), set(psutil.Process().children())
    task = asyncio.create_task(bench.run("grep", pattern="(a+)+$"))
    deadline = time.monotonic() + 10
    while not set(psutil.Process().children()) - others and time.monotonic() < deadline:
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert set(psutil.Process().children()) <= others
    assert open_files() <= before + 1


async def test_it_only_looks(bench: Bench) -> None:
    prepared = bench.prepared("grep", pattern="x")
    assert (prepared.effect, prepared.concurrent) == (Effect.PURE, True)


SAME = [
    {"pattern": "import"},
    {"pattern": "IMPORT", "ignore_case": True},
    {"pattern": "(two|six)", "context": 1},
    {"pattern": r"one\s+two"},
    {"pattern": r"x = \d$"},
    {"pattern": r"caf. import"},
    {"pattern": "import", "glob": "*.py"},
    {"pattern": "kiss", "ignore_case": True},
    {"pattern": "gr\u00fc\u00df"},
    {"pattern": "needle", "path": "src"},
    {"pattern": "needle"},
    {"pattern": "module.exports", "path": "node_modules"},
    {"pattern": "nowhere at all"},
    {"pattern": "bad(", "ignore_case": True},
]


@pytest.fixture
def rich(tree: Bench) -> Bench:
    """What the engines could disagree about."""
    for name, data in {
        "kelvin": "\u212aI\u017fs\nk\u0131ss\nKISS\n".encode(),
        "greeting": "gr\u00fc\u00df dich\n".encode(),
        ".ignored": b"needle in a hidden file\n",
        ".gitignore": b"*.log\nneedle\n",
        "a.log": b"needle\n",
        "src/.git": b"gitdir: needle\n",
        "late": b"x" * 9000 + b"\x00\nneedle\n",
        "utf16": "needle".encode("utf-16"),
        "mark": b"\xef\xbb\xbfneedle\n",
        "odd\nname": b"needle\n",
        "node_modules/m/index.js": b"module.exports = 1\n",
        "b/c/d": b"needle\r\nneedle",
        "b.c": b"needle\n",
        "b-c/d": b"needle\n",
    }.items():
        path = tree.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    (tree.root / os.fsdecode(b"bytes\xff")).write_bytes(b"needle\n")
    with (tree.root / "holes").open("wb") as file:
        file.truncate(1 << 40)
    os.mkfifo(tree.root / "pipe")
    return tree


async def answers(bench: Bench) -> list[str]:
    return [said(await bench.run("grep", **given)) for given in SAME]


async def test_ripgrep_changes_no_answer(rich: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    used = (await rich.run("grep", pattern="needle")).data
    assert used is not None
    assert used["narrowed"] == (shutil.which("rg") is not None)
    with_it = await answers(rich)
    monkeypatch.setenv("PATH", "/nonexistent")
    assert await answers(rich) == with_it
    hits = with_it[10].splitlines()
    assert [line.split(":")[0] for line in hits] == [
        *(".gitignore", ".ignored", "a.log", "b.c", "bytes\ufffd", "late", "mark", '"odd\\nname"'),
        *("b/c/d", "b/c/d", "b-c/d", "src/.git", "[too large to search"),
    ]
    assert with_it[7].count("kelvin") == 3


@pytest.mark.parametrize(
    ("script", "expected", "narrowed"),
    [
        ("exit 2", "a.py:1: import os\nsrc/c.py:7: import re", False),
        ("kill -9 $$", "a.py:1: import os\nsrc/c.py:7: import re", False),
        ("exit 1", "No matches.", True),
        (r"printf './src/c.py\0../../x\0'", "src/c.py:7: import re", True),
    ],
)
async def test_a_ripgrep_that_fails_is_not_relied_upon(
    tree: Bench, monkeypatch: pytest.MonkeyPatch, script: str, expected: str, narrowed: bool
) -> None:
    with tempfile.TemporaryDirectory() as place:
        program = Path(place, "rg")
        program.write_text(f"#!/bin/sh\n{script}\n")
        for path in (program, program.parent):
            path.chmod(0o755)
        monkeypatch.setenv("PATH", place)
        outcome = await tree.run("grep", pattern="^import")
    assert said(outcome) == expected
    assert outcome.data is not None
    assert outcome.data["narrowed"] is narrowed


def test_letters_that_are_the_same_are_known() -> None:
    everything = "".join(map(chr, range(0x110000)))
    for letter in map(chr, range(128)):
        same = set(re.findall(re.escape(letter), everything, re.IGNORECASE))
        assert same <= {letter.lower(), letter.upper(), *TWINS.get(letter.lower(), "")}, letter


async def test_kept_output_is_searched(bench: Bench) -> None:
    async def artifact(artifact_id: str) -> bytes | None:
        return b"one\ntwo needle\nthree\n" if artifact_id == "art_1" else None

    keeper = Bench(replace(bench.context, artifact=artifact))
    assert keeper.decide("grep", pattern="x", path="artifact:art_1").behavior == "allow"
    before = open_files()
    assert await keeper.text("grep", pattern="needle", path="artifact:art_1") == "artifact:art_1:2: two needle"
    assert (await keeper.error("grep", pattern="needle", path="artifact:art_2"))[0] == "not_found"
    assert open_files() == before


async def test_much_around_many_matches_is_still_an_answer(bench: Bench) -> None:
    (bench.root / "f").write_text(("\U0001f600" * 290 + "\n") * 3000)
    outcome = await bench.run("grep", pattern="\U0001f600$", context=20)
    assert outcome.ok
