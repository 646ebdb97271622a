"""Writing: whole, in one step, to the right owner, and what became of it after a crash."""

import os
from pathlib import Path

import pytest

from aster.contracts.tools import Effect
from aster.utility_directory.write_file import MAY_BE_EMPTY
from tests.utility_directory.conftest import Bench, names, swapping


async def test_a_new_file_with_its_directories(bench: Bench) -> None:
    text = await bench.text("write_file", path="a/b/c.txt", content="hällo\n")
    assert text == "Wrote 7 bytes to a/b/c.txt (a new file)."
    path = bench.root / "a/b/c.txt"
    assert path.read_text() == "hällo\n"
    assert {p.stat().st_uid for p in (path, path.parent)} == {bench.root.stat().st_uid}
    assert await bench.text("bash", command="cat a/b/c.txt && echo more >> a/b/c.txt") == "hällo"


async def test_replacing_keeps_the_mode_and_leaves_nothing_behind(bench: Bench) -> None:
    await bench.text("bash", command="echo '#!/bin/sh' > run; chmod 750 run")
    text = await bench.text("write_file", path="run", content="#!/bin/sh\necho hi\n")
    assert "replaced" in text
    assert (bench.root / "run").stat().st_mode & 0o777 == 0o750
    assert names(bench.root) == ["run"]


async def test_a_reader_never_sees_half_of_it(bench: Bench) -> None:
    await bench.text("write_file", path="f", content="old" * 1000)
    with (bench.root / "f").open() as reader:
        await bench.text("write_file", path="f", content="new")
        assert reader.read() == "old" * 1000
    assert (bench.root / "f").read_text() == "new"


async def test_a_file_of_another_owner_keeps_its_owner(bench: Bench) -> None:
    theirs = bench.root / "theirs"
    theirs.write_text("long old content")
    theirs.chmod(0o666)
    owner, inode = theirs.stat().st_uid, theirs.stat().st_ino
    os.link(theirs, bench.root / "second name")
    await bench.text("write_file", path="theirs", content="new")
    assert theirs.read_text() == (bench.root / "second name").read_text() == "new"
    assert (theirs.stat().st_uid, theirs.stat().st_ino) == (owner, inode)


async def test_a_link_inside_is_written_through(bench: Bench) -> None:
    (bench.root / "target").write_text("x")
    (bench.root / "target").chmod(0o666)
    (bench.root / "alias").symlink_to("target")
    await bench.text("write_file", path="alias", content="y")
    assert (bench.root / "alias").is_symlink()
    assert (bench.root / "target").read_text() == "y"


@pytest.mark.parametrize("path", ["../x", "/etc/x", "link", "link/x", "~/../x"])
async def test_outside_is_denied_and_refused(bench: Bench, path: str, tmp_path: Path) -> None:
    (bench.root / "link").symlink_to(tmp_path)
    assert bench.decide("write_file", path=path, content="x").behavior == "deny"
    assert (await bench.error("write_file", path=path, content="x"))[0] == "path_refused"
    assert names(tmp_path) == ["data"]


async def test_what_cannot_be_written_is_said(bench: Bench) -> None:
    (bench.root / "directory").mkdir()
    (bench.root / "file").write_text("x")
    (bench.root / "file").chmod(0o444)
    assert (await bench.error("write_file", path="directory", content="x"))[0] == "not_a_file"
    assert (await bench.error("write_file", path="new/", content="x"))[0] == "not_a_file"
    assert (await bench.error("write_file", path="file", content="x"))[0] == "no_access"
    assert (await bench.error("write_file", path="file/x", content="x"))[0] == "path_refused"
    assert (await bench.error("write_file", path="new", content="\ud800"))[0] == "invalid_input"
    assert names(bench.root) == ["directory", "file"]


async def test_nothing_is_not_written_by_mistake(bench: Bench) -> None:
    await bench.text("write_file", path="f", content="x")
    for path in ("f", "new"):
        reason, text = await bench.error("write_file", path=path, content="")
        assert (reason, "touch" in text) == ("empty_content", True)
    assert (bench.root / "f").read_text() == "x"
    for name in MAY_BE_EMPTY:
        await bench.text("write_file", path=f"package/{name}", content="")
    assert names(bench.root / "package") == sorted(MAY_BE_EMPTY)
    assert names(bench.root) == ["f", "package"]


async def test_what_is_not_a_plain_file_is_left_alone(bench: Bench) -> None:
    os.mkfifo(bench.root / "pipe")
    (bench.root / "pipe").chmod(0o666)
    reader = os.open(bench.root / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert (await bench.error("write_file", path="pipe", content="x"))[0] == "not_a_file"
        assert (await bench.error("edit_file", path="pipe", old_text="x", new_text="y"))[0] == "not_a_file"
    finally:
        os.close(reader)
    assert (bench.root / "pipe").is_fifo()
    assert (await bench.error("write_file", path="x" * 300, content="x"))[0] == "io_error"


async def test_a_link_put_in_between_is_never_written_through(bench: Bench, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("untouched")
    outside.chmod(0o666)
    target, spare = bench.root / "f", bench.root / "spare"
    target.write_text("x")
    target.chmod(0o666)
    with swapping(target, spare, outside):
        for number in range(200):
            outcome = await bench.run("write_file", path="f", content=f"{number}")
            assert outcome.ok or outcome.reason in ("path_refused", "not_found"), outcome
    assert outside.read_text() == "untouched"


async def test_after_a_crash_the_file_tells(bench: Bench) -> None:
    given = {"path": "f", "content": "text"}
    assert await bench.check("write_file", **given) is None
    await bench.run("write_file", **given)
    found = await bench.check("write_file", **given)
    assert found is not None
    assert found.ok
    (bench.root / "f").unlink()
    (bench.root / "f").write_text("something else")
    assert await bench.check("write_file", **given) is None
    assert await bench.check("write_file", path="../x", content="") is None


async def test_the_mark_tells_of_this_call_alone(bench: Bench) -> None:
    await bench.with_key("key-1").run("write_file", path="f", content="one")
    await bench.text("bash", command="printf two > f")  # the same file, other words: it was ours all the same
    assert await bench.with_key("key-1").check("write_file", path="f", content="one") is not None
    assert await bench.with_key("key-2").check("write_file", path="f", content="one") is None


async def test_it_runs_alone_and_is_not_repeated(bench: Bench) -> None:
    prepared = bench.prepared("write_file", path="f", content="x")
    assert (prepared.effect, prepared.concurrent) == (Effect.REVERSIBLE, False)
