"""The installer of `make run`: it says how far it is, installs what has the hash of the lock, and tells why not."""

import hashlib
import os
import pty
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
INSTALL = ROOT / "tools" / "install.py"


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    """A package index of one package, which is a file in a directory."""
    wheel = tmp_path / "tiny_thing-1.0-py3-none-any.whl"
    about = "Metadata-Version: 2.1\nName: tiny-thing\nVersion: 1.0\n"
    kind = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("tiny_thing.py", "SIZE = 1\n")
        archive.writestr("tiny_thing-1.0.dist-info/METADATA", about)
        archive.writestr("tiny_thing-1.0.dist-info/WHEEL", kind)
        archive.writestr("tiny_thing-1.0.dist-info/RECORD", "")
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    (tmp_path / "some.lock").write_text(f"tiny-thing==1.0 \\\n    --hash=sha256:{digest}\n")
    (tmp_path / "wrong.lock").write_text(f"tiny-thing==1.0 \\\n    --hash=sha256:{'0' * 64}\n")
    return tmp_path


def environment(shelf: Path) -> dict[str, str]:
    chosen = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(shelf), "PIP_TARGET": str(shelf / "installed")}
    return {"PATH": os.environ["PATH"], "HOME": str(shelf), "PIP_CONFIG_FILE": os.devnull, **chosen}


def install(shelf: Path, lock: str) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, str(INSTALL), str(shelf / lock)]
    return subprocess.run(argv, env=environment(shelf), capture_output=True, text=True, check=False, timeout=60)


def test_it_says_what_it_does_and_does_it(shelf: Path) -> None:
    done = install(shelf, "some.lock")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Installing 1 packages from some.lock" in done.stdout
    assert "installed in" in done.stdout
    assert (shelf / "installed" / "tiny_thing.py").is_file()


def test_a_package_with_another_hash_is_refused_in_the_words_of_pip(shelf: Path) -> None:
    done = install(shelf, "wrong.lock")
    assert done.returncode == 1
    assert "HASHES" in done.stderr
    assert "pip could not install this" in done.stderr
    assert not (shelf / "installed").exists()


def test_a_terminal_sees_how_far_it_is(shelf: Path) -> None:
    master, slave = pty.openpty()
    argv = [sys.executable, str(INSTALL), str(shelf / "some.lock")]
    with subprocess.Popen(argv, env=environment(shelf), stdout=slave, stderr=slave) as process:
        os.close(slave)
        seen = b""
        try:
            while data := os.read(master, 4096):
                seen += data
        except OSError:
            pass
    os.close(master)
    assert process.returncode == 0
    assert b"1/1 tiny" in seen
    assert b"unpacking" in seen
