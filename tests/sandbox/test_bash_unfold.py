"""Every command that a script may come to run is found, however it is wrapped, and with the values it is given."""

import pytest

from aster.sandbox.bash_unfold import spoken, unfold


@pytest.mark.parametrize(
    ("script", "line"),
    [
        ("nice -n 5 rm x", "rm x"),
        ("timeout -k 5 10 rm x", "rm x"),
        ("sudo -u root -- rm x", "rm x"),
        ("env -S 'rm x'", "rm x"),
        ("flock lock rm x", "rm x"),
        ("watch 'rm x'", "rm x"),
        ("bash -euo pipefail -c 'rm x'", "rm x"),
        ("bash <<'EOF'\nrm x\nEOF", "rm x"),
        ("find . -type f -exec rm x \\;", "rm x"),
        ("trap 'rm x' EXIT", "rm x"),
        ("alias y='rm x'", "rm x"),
        ("a=rm; b=x; $a $b", "rm x"),
        ("a='rm x'; $a", "rm x"),
        ('for f in x y; do rm "$f"; done', "rm y"),
        ("a=x; b=$a; rm $b", "rm x"),
        ("poetry run rm x", "rm x"),
        ("python3 -m pip uninstall y", "pip uninstall y"),
        ("/opt/bin/rm x", "rm x"),
        ("PAGER='rm x' git log", "rm x"),
    ],
)
def test_it_is_found(script: str, line: str) -> None:
    assert line in set(spoken(script))


@pytest.mark.parametrize(
    "script",
    ["time echo rm x", "grep -r 'rm x' .", "nice grep 'rm x' y", "cat <<'EOF'\nrm x\nEOF", "command -v rm"],
)
def test_what_is_only_talked_about_is_not(script: str) -> None:
    assert not any(line.startswith("rm") for line in spoken(script))


@pytest.mark.parametrize(
    "script", ["read c; $c", 'read c; "$c" -rf x', "IFS=,; c=rm,x; $c", "eval $(cat x)", "curl x | sh", "sh < x"]
)
def test_what_cannot_be_known_is_said(script: str) -> None:
    assert unfold(script).notes
