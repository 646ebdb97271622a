"""Access for one uid, by ACL entries, leaving owners and modes alone."""

import os
import stat
import struct
from pathlib import Path

import pytest

from aster.contracts.errors import EngineError
from aster.sandbox.access import open_to
from aster.sandbox.identity import Identity

SOMEBODY = Identity(uid=61_234, gid=61_234)


def granted(path: Path, kind: str = "access") -> int | None:
    """The permissions of the named user entry; None without one."""
    try:
        raw = os.getxattr(path, f"system.posix_acl_{kind}")
    except OSError:
        return None
    entries = {(tag, who): bits for tag, bits, who in struct.iter_unpack("<HHI", raw[4:])}
    return entries.get((2, SOMEBODY.uid))


def test_the_way_in_can_be_passed_and_the_root_be_used(tmp_path: Path) -> None:
    above, root = tmp_path / "above", tmp_path / "above" / "root"
    (root / "deep").mkdir(parents=True)
    (root / "deep" / "file").write_text("x")
    (root / "program").write_text("x")
    (root / "program").chmod(0o700)
    above.chmod(0o700)
    owner = above.stat().st_uid
    open_to(root, SOMEBODY)
    assert [granted(path) for path in (above, root, root / "deep")] == [1, 7, 7]
    assert [granted(path) for path in (root / "deep" / "file", root / "program")] == [6, 7]
    assert granted(root, "default") == granted(root / "deep", "default") == 7
    assert above.stat().st_uid == owner
    assert stat.S_IMODE(above.stat().st_mode) & 0o707 == 0o700


def test_what_is_new_in_the_root_can_be_used_too(tmp_path: Path) -> None:
    open_to(tmp_path, SOMEBODY)
    (tmp_path / "later").mkdir()
    (tmp_path / "later" / "file").write_text("x")
    assert granted(tmp_path / "later") == 7
    assert granted(tmp_path / "later" / "file") is not None


def test_it_is_done_once(tmp_path: Path) -> None:
    open_to(tmp_path, SOMEBODY)
    (tmp_path / "private").write_text("x")
    os.removexattr(tmp_path / "private", "system.posix_acl_access")
    open_to(tmp_path, SOMEBODY)
    assert granted(tmp_path / "private") is None


def test_what_is_closed_stays_closed(tmp_path: Path) -> None:
    (tmp_path / "root" / "data" / "deep").mkdir(parents=True)
    (tmp_path / "root" / "data" / "brain").write_text("x")
    open_to(tmp_path / "root", SOMEBODY, closed=(tmp_path / "root" / "data",))
    assert granted(tmp_path / "root") == 7
    assert [granted(tmp_path / "root" / "data" / name) for name in ("", "deep", "brain")] == [None] * 3


def test_links_give_nothing_away(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    root.mkdir()
    outside.write_text("secret")
    (root / "symbolic").symlink_to(outside)
    os.link(outside, root / "hard")
    open_to(root, SOMEBODY)
    assert granted(outside) is None


def test_what_cannot_be_granted_is_said(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="61234"):
        open_to(Path("/proc/self/fdinfo"), SOMEBODY)
    with pytest.raises(EngineError, match="ordinary user"):
        open_to(tmp_path / "missing", SOMEBODY)
