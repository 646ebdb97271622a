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


REACH = """
import asyncio, json, sys
from pathlib import Path
from aster.infra.secrets import Secrets
from aster.sandbox.backend import Command
from aster.sandbox.egress import with_egress
from aster.sandbox.selection import choose
from aster.sandbox.workspaces import Workspaces
from tests.sandbox.backends import reports, settings_for
from tests.web_server import reply, web_server

async def main(place):
    said = {}
    async with web_server(lambda asked: reply("hello"), "127.0.0.2") as server:
        for name in (name for name in ("bubblewrap", "landlock") if reports()[name].ok):
            allow = f"127.0.0.2:{server.port}"
            settings = settings_for(place, SANDBOX=name, EGRESS_ALLOW=allow, FETCH_ALLOWED_PRIVATE="127.0.0.2")
            sandbox = with_egress(await choose(settings), settings, lambda *_, **__: None, Secrets())
            workspace = await Workspaces(settings, sandbox).of("local", "t1")
            script = f"curl -sS {server.url}; curl -sS --noproxy '*' -m 3 {server.url} && echo around"
            said[name] = (await sandbox.run(Command.shell(script, workspace, 20))).stdout
            sandbox.close()
    print(json.dumps(said))

asyncio.run(main(Path(sys.argv[1])))
"""


def test_the_way_out_needs_no_privileges() -> None:
    done = run_as_somebody(REACH)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said
    assert set(said.values()) == {"hello"}
