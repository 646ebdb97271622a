"""Finding files by name, inside and nowhere else."""

import os
from pathlib import Path

import pytest

from aster.utility_directory.glob import MAX_PATHS
from aster.utility_directory.patterns import alternatives
from tests.utility_directory.conftest import Bench

FILES = ["a.py", "b.ts", "c.tsx", ".hidden", "src/d.py", "src/deep/e.py", "src/deep/.f.py", ".git/g.py", "x/y/z.md"]


@pytest.fixture
def tree(bench: Bench, tmp_path: Path) -> Bench:
    for name in FILES:
        path = bench.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    (tmp_path / "outside.py").write_text("x")
    (bench.root / "out").symlink_to(tmp_path)
    (bench.root / "escape.py").symlink_to(tmp_path / "outside.py")
    (bench.root / "inner.py").symlink_to("a.py")
    return bench


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("*.py", ["a.py", "inner.py"]),
        ("**/*.py", ["a.py", "inner.py", "src/d.py", "src/deep/e.py"]),
        ("*.{ts,tsx}", ["b.ts", "c.tsx"]),
        ("src/*", ["src/d.py", "src/deep/"]),
        ("src/**", ["src/d.py", "src/deep/e.py"]),
        ("**/deep/*.py", ["src/deep/e.py"]),
        ("src/deep/.*", ["src/deep/.f.py"]),
        ("src/d.py", ["src/d.py"]),
        ("**/**/**/z.md", ["x/y/z.md"]),
        ("./x/*/z.??", ["x/y/z.md"]),
        (".hidden", [".hidden"]),
        ("[ab].*", ["a.py", "b.ts"]),
        ("out/*", None),
        ("nothing*", []),
        ("missing/*", []),
        ("a.py/*", None),
    ],
)
async def test_patterns(tree: Bench, pattern: str, expected: list[str] | None) -> None:
    if expected is None:
        assert (await tree.error("glob", pattern=pattern))[0] == "path_refused"
    else:
        assert await tree.text("glob", pattern=pattern) == ("\n".join(expected) or "No path matches.")


async def test_where_to_look(tree: Bench) -> None:
    assert await tree.text("glob", pattern="*.py", path="src") == "src/d.py"
    assert await tree.text("glob", pattern=f"{tree.root}/src/*.py") == "src/d.py"
    assert await tree.text("glob", pattern="~/src/*.py") == "src/d.py"


@pytest.mark.parametrize("pattern", ["../*", "/etc/*", "src/../../*", "/*", "**/../*"])
async def test_outside_is_refused(tree: Bench, pattern: str) -> None:
    assert (await tree.error("glob", pattern=pattern))[0] == "path_refused"


@pytest.mark.parametrize("path", ["..", "/etc", "out"])
async def test_a_directory_outside_is_denied(tree: Bench, path: str) -> None:
    assert tree.decide("glob", pattern="*", path=path).behavior == "deny"
    assert (await tree.error("glob", pattern="*", path=path))[0] == "path_refused"


async def test_long_lists_are_cut(bench: Bench) -> None:
    for number in range(MAX_PATHS + 5):
        (bench.root / f"{number:04}").touch()
    lines = (await bench.text("glob", pattern="*")).splitlines()
    assert len(lines) == MAX_PATHS + 1
    assert "narrower" in lines[-1]


async def test_hostile_names_stay_on_their_line(bench: Bench) -> None:
    for name in (b"a\npasswd", b"bad\xff", "\u202eright".encode(), b"y" * 255):
        (bench.root / os.fsdecode(name)).touch()
    lines = (await bench.text("glob", pattern="*")).split("\n")
    assert lines == ['"\\u202eright"', '"a\\npasswd"', "bad\ufffd", "y" * 255]


async def test_what_cannot_be_entered_is_passed_over(tree: Bench) -> None:
    (tree.root / "src" / "deep").chmod(0)
    assert await tree.text("glob", pattern="**/*.py") == "a.py\ninner.py\nsrc/d.py"
    (tree.root / "src" / "deep").chmod(0o755)


async def test_a_tree_without_bottom_is_cut(bench: Bench) -> None:
    fd = os.open(bench.root, os.O_RDONLY)
    for _ in range(300):
        os.mkdir("d", dir_fd=fd)
        below = os.open("d", os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = below
    os.close(fd)
    text = await bench.text("glob", pattern="**/x")
    assert text == "No path matches. The search was cut short."
    assert "not all of it was looked at" in await bench.text("find", name="x")
    assert await bench.text("grep", pattern="x") == "No matches."


def test_braces_are_bounded() -> None:
    assert sorted(alternatives("{a,b}{c,d}x{}")) == ["acx{}", "adx{}", "bcx{}", "bdx{}"]
    assert len(alternatives("{a,b}" * 30)) < 100
