"""The real shell against our reading of it: whatever bash turns out to run, the judgement must have seen coming.

Scripts are strung together from the pieces of the language at random, run in the sandbox with an `rm` that only
notes how it was called, and compared.
"""

import random
from pathlib import Path

import pytest

from aster.sandbox.backend import Command, Sandbox
from aster.sandbox.bash_hazards import hazards
from aster.sandbox.paths import Workspace

LANGUAGE = """
rm -rf / r m '' "" \\ ; && || | & ( ) { } $( ) ` <<EOF <<'E' >x <x 2>&1 $X X=1 ' " # eval if then fi do done while
esac x) ;; ! [[ ]] f() $' <( >( (( )) ${X:- } time command exec coproc ~ * true false echo :
"""
LINES = ["\n", " ", "\nEOF\n", "\nE\n", "\\\n", "for i in a", "case x in", "function g"]
DANGER = [" rm -rf / ", " rm -rf /", "rm -rf / ", "r''m -rf /", " \\rm -rf / ", "\nrm -rf /\n"]

DRIVER = """
mkdir -p notes
for script in scripts/*; do
  ( cd empty && NOTE=$PWD/../notes/${script##*/} PATH=$PWD/../bin \\
    /usr/bin/timeout 1 /bin/bash -c "$(< ../$script)" </dev/null >/dev/null 2>&1 )
done
true
"""


def strung_together(chance: random.Random) -> str:
    pieces = [chance.choice(LANGUAGE.split() + LINES) for _ in range(chance.randint(1, 9))]
    pieces.insert(chance.randint(0, len(pieces)), chance.choice(DANGER))
    return chance.choice(["", " "]).join(pieces)


def deletes_everything(note: Path) -> bool:
    """Whether some call was really `rm`, recursive, on the root directory."""
    calls = [line.split("\x1f") for line in note.read_text().split("\x1e")] if note.exists() else []
    return any("/" in call and any(word.startswith("-") and "r" in word for word in call) for call in calls)


@pytest.mark.parametrize("seed", [1, 2])
async def test_what_bash_runs_was_seen_coming(sandbox: Sandbox, workspace: Workspace, seed: int) -> None:
    chance = random.Random(seed)
    scripts = [strung_together(chance) for _ in range(150)]
    root = workspace.cwd
    for name in ("scripts", "bin", "empty"):
        (root / name).mkdir()
        (root / name).chmod(0o777)
    for number, script in enumerate(scripts):
        (root / "scripts" / f"{number:03}").write_text(script)
    (root / "bin" / "rm").write_text("#!/bin/bash\nIFS=$'\\x1f'\nprintf '%s\\x1e' \"$*\" >> \"$NOTE\"\n")
    (root / "bin" / "rm").chmod(0o755)
    done = await sandbox.run(Command.shell(DRIVER, workspace, 60))
    assert done.exit_code == 0, done.stderr
    ran = [script for number, script in enumerate(scripts) if deletes_everything(root / "notes" / f"{number:03}")]
    assert len(ran) > 10
    assert [script for script in ran if not hazards(script, workspace)] == []
