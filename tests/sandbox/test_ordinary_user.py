"""An engine that is not root: the same isolation, under its own uid."""

import json

from tests.sandbox.ordinary import run_as_somebody

LOOK = """
import asyncio, json, os, sys
from pathlib import Path
from tests.sandbox.backends import boxed, reports

async def main(place):
    said = {"uid": os.getuid(), "reports": {name: [one.ok, one.reason] for name, one in reports().items()}}
    (place / "private").write_text("very-secret-value")
    for name in (name for name in ("bubblewrap", "landlock") if reports()[name].ok):
        async with boxed(name, place) as box:
            script = f'''id -u; echo here > file; chmod +x file; cat file
            cat {place}/private; echo x > {place}/private; chmod 777 {place}/private
            kill -9 {os.getpid()} $PPID; prlimit --pid {os.getpid()} --nofile=9:9
            cat /proc/{os.getpid()}/environ
            echo x > /dev/tcp/127.0.0.1/1
            (setsid sleep 300 </dev/null >/dev/null 2>&1 &)'''
            done = await box(script)
            private, made = place / "private", (box.root / "file").stat().st_mode
            said[name] = [done.stdout, private.read_text(), private.stat().st_mode & 0o777, made]
    print(json.dumps(said))

asyncio.run(main(Path(sys.argv[1])))
"""


def test_namespaces_and_landlock_work_without_privileges() -> None:
    done = run_as_somebody(LOOK)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["uid"] != 0
    assert said["reports"]["bubblewrap"][0], said["reports"]
    for output, private, mode, made in (said[name] for name in ("bubblewrap", "landlock") if name in said):
        assert output == f"{said['uid']}\nhere\n"
        assert (private, mode & 0o077) == ("very-secret-value", mode & 0o044)
        assert made & 0o111
