"""The way out of a sandboxed command: only where the operator says, with secrets it never sees, and on record."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from aster.brain.protocol import Brain
from aster.brain.records import ObservabilityRow
from aster.cli.doctor import machine
from aster.contracts.errors import EngineError, ErrorCode
from aster.infra.secrets import Secrets
from aster.infra.settings import Settings
from aster.sandbox.backend import Command, Completed, Sandbox
from aster.sandbox.egress import with_egress
from aster.sandbox.egress_ledger import EgressLimits
from aster.sandbox.egress_rules import EgressRules, read_injections
from aster.sandbox.networked import Networked
from aster.sandbox.paths import Workspace
from aster.sandbox.reach import Reach
from aster.sandbox.selection import choose
from aster.testing import ModelServer, Reply, Text, ToolCall
from tests.live import live
from tests.sandbox.backends import settings_for, working
from tests.sandbox.certificates import authority
from tests.web_server import Asked, reply, web_server

HOST = "127.0.0.2"
CARRYING = [name for name in ("bubblewrap", "landlock") if name in working()]


@pytest.fixture(params=CARRYING)
async def sandbox(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Sandbox]:
    """Every isolation that can give a command a way out."""
    chosen = await choose(settings_for(tmp_path, SANDBOX=request.param))
    assert chosen.carries_egress
    yield chosen
    chosen.close()


def hello(asked: Asked) -> bytes:
    return reply(f"hello from {asked.target}", "text/plain")


class Notes:
    """Keeps what would go to the observability rows."""

    def __init__(self) -> None:
        self.kept: list[tuple[str, str, dict[str, Any]]] = []

    def __call__(self, kind: str, level: str, message: str, /, **data: Any) -> None:
        self.kept.append((kind, level, data))


async def run(sandbox: Sandbox, workspace: Workspace, script: str) -> Completed:
    return await sandbox.run(Command.shell(script, workspace, 20))


def networked(sandbox: Sandbox, notes: Notes, allow: str, secrets: dict[str, Any] | None = None) -> Sandbox:
    settings = Settings.model_validate(
        {
            "egress_allow": allow,
            "egress_secrets": json.dumps(secrets) if secrets else None,
            "fetch_allowed_private": HOST,
        }
    )
    return with_egress(sandbox, settings, notes, Secrets())


async def test_without_a_list_there_is_no_network(sandbox: Sandbox, workspace: Workspace) -> None:
    assert networked(sandbox, Notes(), "") is sandbox
    done = await run(sandbox, workspace, "env; curl -s -m 3 http://127.0.0.1:3128/")
    assert "proxy" not in done.stdout.lower()
    assert done.exit_code != 0


async def test_an_allowed_host_is_reached_and_noted(sandbox: Sandbox, workspace: Workspace) -> None:
    notes = Notes()
    async with web_server(hello, HOST) as server:
        outside = networked(sandbox, notes, f"{HOST}:{server.port}")
        done = await run(outside, workspace, f"curl -sS {server.url}/a; curl -sS -d x=1 {server.url}/b")
    assert done.stdout == "hello from /ahello from /b"
    assert done.stderr == ""
    assert [(asked.method, asked.body) for asked in server.asked] == [("GET", b""), ("POST", b"x=1")]
    assert "proxy-connection" not in server.asked[0].headers
    ((kind, level, data),) = notes.kept
    assert (kind, level) == ("egress", "info")
    (visit,) = data["destinations"]
    assert (visit["host"], visit["port"], visit["requests"], visit["sent"]) == (HOST, server.port, 2, 3)
    assert visit["received"] == 2 * len("hello from /a")


async def test_other_hosts_are_refused_and_the_model_is_told(sandbox: Sandbox, workspace: Workspace) -> None:
    notes = Notes()
    async with web_server(hello, HOST) as server:
        outside = networked(sandbox, notes, "other.example")
        done = await run(
            outside, workspace, f"curl -s {server.url}/; curl -s -m 5 https://evil.example/ || echo failed"
        )
    assert "Refused by the engine" in done.stdout
    assert "failed" in done.stdout
    assert f"[network: {HOST}:{server.port} was refused: commands may only reach" in done.stderr
    assert "[network: evil.example:443 was refused" in done.stderr
    assert server.asked == []
    assert notes.kept[0][1] == "warning"


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/latest/meta-data/",
        "http://127.0.0.3:8000/",
        "http://10.0.0.1/",
        "http://[::ffff:10.0.0.1]/",
    ],
)
async def test_inner_addresses_are_refused_even_when_everything_is_allowed(
    sandbox: Sandbox, workspace: Workspace, url: str
) -> None:
    outside = networked(sandbox, Notes(), "*,*:8000")
    done = await run(outside, workspace, f"curl -s -m 5 {url}; curl -s -m 5 -p {url}")
    assert "was refused" in done.stderr
    assert "Refused by the engine" in done.stdout


async def test_there_is_no_way_around_the_proxy(sandbox: Sandbox, workspace: Workspace) -> None:
    async with web_server(hello, HOST) as server:
        outside = networked(sandbox, Notes(), f"{HOST}:{server.port}")
        done = await run(outside, workspace, f"curl -s -m 3 --noproxy '*' {server.url}/ && echo reached")
        assert "reached" not in done.stdout
        assert server.asked == []


async def test_connect_is_a_tunnel(sandbox: Sandbox, workspace: Workspace) -> None:
    async with web_server(hello, HOST) as server:
        outside = networked(sandbox, Notes(), f"{HOST}:{server.port}")
        done = await run(outside, workspace, f"curl -sS -p {server.url}/tunnelled")
        refused = await run(outside, workspace, "curl -sS -p http://127.0.0.2:1/")
    assert done.stdout == "hello from /tunnelled"
    assert "403" in refused.stderr


async def test_a_secret_is_added_and_never_seen(sandbox: Sandbox, workspace: Workspace) -> None:
    """Even a host that repeats every header cannot give it away."""

    def echo(asked: Asked) -> bytes:
        return reply(json.dumps(asked.headers), "application/json", X_Echo=asked.headers.get("authorization", ""))

    async with web_server(echo, HOST) as server:
        secrets = {
            f"http://{HOST}:{server.port}": {"Authorization": "Bearer s3cr3t-t0ken", "X-Team": "seven-dwarfs"}
        }
        outside = networked(sandbox, Notes(), f"{HOST}:{server.port}", secrets)
        script = f"env; cat /proc/self/environ; curl -sSi --compressed -H 'Authorization: mine' {server.url}/"
        done = await run(outside, workspace, script)
    headers = server.asked[0].headers
    assert (headers["authorization"], headers["x-team"]) == ("Bearer s3cr3t-t0ken", "seven-dwarfs")
    assert "s3cr3t-t0ken" not in done.stdout + done.stderr
    assert "seven-dwarfs" not in done.stdout
    assert '"x-team": "************"' in done.stdout


async def test_plain_requests_become_https_for_hosts_with_secrets(
    sandbox: Sandbox, workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def resolve(host: str, port: int) -> list[str]:
        return [HOST]

    signed = authority(tmp_path, "api.example")
    monkeypatch.setenv("SSL_CERT_FILE", str(signed.authority))
    monkeypatch.setenv("API_TOKEN", "from-the-environment")
    async with web_server(hello, HOST, tls=signed.context) as server:
        secrets = json.dumps({f"api.example:{server.port}": {"X-Key": "${API_TOKEN}"}})
        rules = EgressRules.of(
            Settings.model_validate({"egress_allow": f"api.example:{server.port}", "egress_secrets": secrets})
        )
        outside = Networked(sandbox, rules, Reach(private=HOST, resolve=resolve), Notes())
        done = await run(outside, workspace, f"curl -sS http://api.example:{server.port}/secure")
    assert done.stdout == "hello from /secure"
    assert server.asked[0].headers["x-key"] == "from-the-environment"
    assert server.asked[0].headers["host"] == f"api.example:{server.port}"


async def test_bytes_and_connections_are_limited(sandbox: Sandbox, workspace: Workspace) -> None:
    async with web_server(lambda asked: reply(b"x" * 200_000), HOST) as server:
        rules = EgressRules.of(Settings.model_validate({"egress_allow": f"{HOST}:{server.port}"}))
        small = Networked(sandbox, rules, Reach(private=HOST), Notes(), EgressLimits(bytes=100_000))
        done = await run(small, workspace, f"curl -s {server.url}/ | wc -c")
        assert int(done.stdout) < 200_000
        assert "more than 100,000 bytes" in done.stderr
        none = Networked(sandbox, rules, Reach(private=HOST), Notes(), EgressLimits(connections=0))
        assert "Too many connections" in (await run(none, workspace, f"curl -s {server.url}/")).stdout


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        (r"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "this is a proxy"),
        (r"CONNECT nowhere HTTP/1.1\r\n\r\n", "host:port"),
        (r"GET ftp://x/ HTTP/1.1\r\n\r\n", "this is a proxy"),
        (r"garbage\r\n\r\n", "not valid HTTP"),
        (r"GET http://127.0.0.2/ HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n", "upgraded"),
    ],
)
async def test_nonsense_is_answered(sandbox: Sandbox, workspace: Workspace, sent: str, said: str) -> None:
    outside = networked(sandbox, Notes(), "*")
    script = f"exec 3<>/dev/tcp/127.0.0.1/3128; printf '{sent}' >&3; timeout 5 cat <&3"
    done = await run(outside, workspace, script)
    assert "HTTP/1.1 400" in done.stdout
    assert said in done.stdout


async def test_a_second_request_behind_the_first_is_never_sent(sandbox: Sandbox, workspace: Workspace) -> None:
    async with web_server(hello, HOST) as server:
        outside = networked(sandbox, Notes(), f"{HOST}:{server.port}")
        first = rf"POST {server.url}/one HTTP/1.1\r\nContent-Length: 2\r\n\r\nok"
        second = r"GET http://evil.example/two HTTP/1.1\r\n\r\n"
        done = await run(
            outside,
            workspace,
            f"exec 3<>/dev/tcp/127.0.0.1/3128; printf '{first}{second}' >&3; timeout 5 cat <&3",
        )
    assert "hello from /one" in done.stdout
    assert [(asked.target, asked.body) for asked in server.asked] == [("/one", b"ok")]


async def test_a_chunked_upload_arrives(sandbox: Sandbox, workspace: Workspace) -> None:
    def length(asked: Asked) -> bytes:
        return reply(f"{asked.headers['transfer-encoding']} {len(asked.body)}", "text/plain")

    async with web_server(length, HOST) as server:
        outside = networked(sandbox, Notes(), f"{HOST}:{server.port}")
        script = f"head -c 100000 /dev/zero | curl -sS -T - {server.url}/up"
        assert (await run(outside, workspace, script)).stdout == "chunked 100000"


@pytest.mark.parametrize(
    ("answer", "code", "said"),
    [
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", 0, "hello"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", 18, "hello"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello", 18, "hello"),
        (b"HTTP/1.0 200 OK\r\n\r\nhello", 0, "hello"),
        (b"HTTP/1.1 204 No Content\r\n\r\n", 0, ""),
        (b"", 0, "cannot be reached"),
        (b"nonsense", 0, "cannot be reached"),
    ],
)
async def test_an_answer_cut_short_is_seen_to_be(
    sandbox: Sandbox, workspace: Workspace, answer: bytes, code: int, said: str
) -> None:
    async with web_server(lambda asked: answer, HOST) as server:
        outside = networked(sandbox, Notes(), f"{HOST}:{server.port}")
        done = await run(outside, workspace, f"curl -s -m 10 {server.url}/")
    assert done.exit_code == code
    assert said in done.stdout


async def test_a_host_that_does_not_answer(sandbox: Sandbox, workspace: Workspace) -> None:
    outside = networked(sandbox, Notes(), f"{HOST}:1")
    done = await run(
        outside, workspace, f"curl -s http://{HOST}:1/; curl -s -w '%{{http_connect}}' -p http://{HOST}:1/"
    )
    assert "cannot be reached" in done.stdout
    assert done.stdout.endswith("502")


HOSTILE = """
import fcntl, os, socket, struct, sys

port = int(sys.argv[1])

def is_open(number):
    try:
        return bool(os.fstat(number))
    except OSError:
        return False

print("inherited", sum(map(is_open, range(3, 200))))

def tried(name, attempt):
    try:
        print(name, "GOT", attempt())
    except OSError as error:
        print(name, "refused")

def line():
    return socket.socket(socket.AF_INET, socket.SOCK_STREAM)

def elsewhere():
    line().connect(("127.0.0.2", port))
    return "connected"

def undone():
    one = line()
    one.connect(("127.0.0.1", 3128))
    one.connect(("127.0.0.2", port))
    return "connected"

def dissolved():
    import ctypes
    one, libc = line(), ctypes.CDLL(None, use_errno=True)
    if libc.connect(one.fileno(), struct.pack("=H", 0).ljust(16, b"\\0"), 16):
        raise OSError(ctypes.get_errno())
    return "dissolved"

def fast():
    return line().sendto(b"GET / HTTP/1.0\\r\\n\\r\\n", 0x20000000, ("127.0.0.2", port))

def fast_message():
    return line().sendmsg([b"x"], [], 0x20000000, ("127.0.0.2", port))

tried("elsewhere", elsewhere)
tried("undone", undone)
tried("dissolved", dissolved)
tried("fast", fast)
tried("fast_message", fast_message)
tried("bind", lambda: line().bind(("127.0.0.1", 0)))
tried("listen", lambda: line().listen())
tried("datagram", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.2", port)))
tried("six", lambda: socket.socket(socket.AF_INET6, socket.SOCK_STREAM).fileno())
tried("unix", lambda: socket.socket(socket.AF_UNIX, socket.SOCK_STREAM).fileno())
tried("raw", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1).fileno())
tried("netlink", lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW).fileno())
tried("interfaces", lambda: fcntl.ioctl(line(), 0x8912, struct.pack("=iL", 0, 0).ljust(64, b"\\0")))
one = line()
one.connect(("127.0.0.1", 3128))
one.sendall(b"GET http://127.0.0.2:%d/in HTTP/1.0\\r\\n\\r\\n" % port)
print("proxied", one.makefile("rb").read().splitlines()[-1])
"""


async def test_a_socket_leads_to_the_proxy_and_nowhere_else(sandbox: Sandbox, workspace: Workspace) -> None:
    (workspace.cwd / "hostile.py").write_text(HOSTILE)
    async with web_server(hello, HOST) as listed, web_server(hello, HOST) as other:
        outside = networked(sandbox, Notes(), f"{HOST}:{listed.port}")
        aimed = await run(outside, workspace, f"python3 hostile.py {other.port}")
        allowed = await run(outside, workspace, f"python3 hostile.py {listed.port}")
    got = {line.split()[0] for line in aimed.stdout.splitlines() if " GOT " in line}
    harmless = {"bind", "listen", "six", "unix", "netlink", "interfaces", "datagram", "dissolved"}
    assert got <= (harmless if sandbox.report.backend == "bubblewrap" else set()), aimed
    assert "inherited 0" in aimed.stdout
    assert "Refused by the engine" in aimed.stdout
    assert "proxied b'hello from /in'" in allowed.stdout
    assert other.asked == []
    assert [asked.target for asked in listed.asked] == ["/in"]


async def test_many_connections_at_once_and_programs_that_do_not_wait(
    sandbox: Sandbox, workspace: Workspace
) -> None:
    async with web_server(hello, HOST) as server:
        outside = networked(sandbox, Notes(), f"{HOST}:{server.port}")
        urls = " ".join(f"-o /dev/null {server.url}/{number}" for number in range(20))
        done = await run(outside, workspace, f"curl -sS --parallel --fail {urls} && echo all")
    assert done.stdout == "all\n"
    assert len(server.asked) == 20


async def test_a_command_that_is_ended_takes_its_connections_along(sandbox: Sandbox, workspace: Workspace) -> None:
    async with web_server(hello, HOST) as server:
        outside = networked(sandbox, Notes(), f"{HOST}:{server.port}")
        silent = "import socket, time; s = socket.create_connection(('127.0.0.1', 3128)); time.sleep(60)"
        before = len(asyncio.all_tasks())
        done = await outside.run(Command.shell(f'python3 -c "{silent}"', workspace, 1))
        assert done.timed_out
        assert len(asyncio.all_tasks()) == before


@pytest.mark.parametrize("backend", ["off", *(name for name in working() if name not in CARRYING)])
async def test_a_backend_that_cannot_limit_stops_the_start(backend: str, tmp_path: Path) -> None:
    chosen = {"sandbox": backend, "egress_allow": "example.com", "sqlite_db_path": tmp_path / "brain.sqlite"}
    async with ModelServer() as model:
        with pytest.raises(EngineError, match=r"EGRESS_ALLOW is set, but .* SANDBOX=auto") as caught:
            async with live(model, **chosen):
                pass
    assert caught.value.code is ErrorCode.CONFIGURATION_INVALID
    finding = await machine.sandbox(Settings.model_validate(chosen))
    assert (finding.status, finding.found) == ("fail", caught.value.message)


async def test_where_no_command_runs_the_list_stands_in_nobodys_way(tmp_path: Path) -> None:
    settings = settings_for(tmp_path, SANDBOX="bubblewrap", EGRESS_ALLOW="example.com")
    sandbox = await choose(settings, binaries=())
    assert not sandbox.report.ok
    assert with_egress(sandbox, settings, Notes(), Secrets()) is sandbox
    sandbox.close()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[]", "neither JSON nor a file|file cannot be read"),
        ("{", "neither JSON"),
        ('{"a.example": {}}', "needs an object"),
        ('{"a.example": {"X": 1}}', "with a text"),
        ('{"a.example": {"X Y": "v"}}', "plain name"),
        ('{"a.example": {"X": "a\\nb"}}', "one line"),
        ('{"ftp://a.example": {"X": "v"}}', "neither http nor https"),
        ('{"a b": {"X": "v"}}', "not a host"),
        ('{"a.example": {"X": "${MISSING}"}}', "MISSING"),
        ("/nowhere/at/all", "cannot be read"),
    ],
)
def test_wrong_secrets_stop_the_start(text: str, complaint: str) -> None:
    with pytest.raises(EngineError, match=complaint):
        read_injections(text, {})


def test_secrets_may_be_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "secrets.json"
    file.write_text('{"*.example.com": {"Authorization": "Bearer ${TOKEN}"}}')
    (read,) = read_injections(str(file), {"TOKEN": "abcdefgh"})
    assert read.headers == (("Authorization", "Bearer abcdefgh"),)
    assert (read.scheme, read.port) == ("https", 443)
    assert read.holds("api.example.com", 80)
    assert read.holds("api.example.com", 443)
    assert not read.holds("api.example.com", 8080)
    assert not read.holds("example.com", 80)


async def noted(brain: Brain, kind: str) -> ObservabilityRow:
    """The newest row of this kind; rows are written beside the turn, so it may take a moment."""
    async with asyncio.timeout(5):
        while not (rows := await brain.observations("default", limit=1, kind=kind)):
            await asyncio.sleep(0.01)
    return rows[0]


async def test_through_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """A command reaches the allowed host with a key it never sees; everything else is refused and on record."""
    monkeypatch.setenv("SERVICE_TOKEN", "tok-9f8e7d6c5b4a")

    def repeat(asked: Asked) -> bytes:
        return reply(f"you sent {asked.headers.get('x-api-key')}", "text/plain")

    async with ModelServer() as model, web_server(repeat, HOST) as server, web_server(hello, HOST) as other:
        script = (
            f"curl -sS {server.url}/; echo; curl -sS {other.url}/; curl -sS http://169.254.169.254/latest/;"
            " env; exit 0"
        )
        model.enqueue(Reply([ToolCall("bash", {"command": script})]), Reply([Text("done")]))
        settings = {
            "sandbox": "auto",
            "permission_mode": "bypass",
            "permission_bypass_allowed": True,
            "fetch_allowed_private": HOST,
            "egress_allow": f"{HOST}:{server.port},169.254.169.254",
            "egress_secrets": json.dumps({f"http://{HOST}:{server.port}": {"X-Api-Key": "${SERVICE_TOKEN}"}}),
        }
        async with live(model, **settings) as engine:
            frames = await engine.execute("go")
            row = await noted(engine.engine.brain, "egress")
    output = next(frame.data["output"] for frame in frames if frame.event == "tool_result")
    assert server.asked[0].headers["x-api-key"] == "tok-9f8e7d6c5b4a"
    assert "tok-9f8e7d6c5b4a" not in "".join(frame.raw.decode() for frame in frames)
    assert "you sent ****************" in output
    assert "http_proxy=http://127.0.0.1:3128" in output
    assert (
        f"[network: {HOST}:{other.port} was refused: commands may only reach the hosts in EGRESS_ALLOW]" in output
    )
    assert (
        "[network: 169.254.169.254:80 was refused: it is not on the public internet (metadata address)]" in output
    )
    assert other.asked == []
    assert (row.level, row.task_id) == ("warning", "t1")
    assert row.data is not None
    assert {visit["host"] for visit in json.loads(row.data)["destinations"]} == {HOST, "169.254.169.254"}


@pytest.mark.parametrize("backend", CARRYING)
async def test_a_refusal_is_seen_in_the_output_of_a_background_command(backend: str) -> None:
    """It is there while the command still runs."""
    async with ModelServer() as model, web_server(hello, HOST) as other:
        script = f"curl -s {other.url}/; sleep 30"
        start = ToolCall("bash", {"command": script, "run_in_background": True})
        settings = {"sandbox": backend, "fetch_allowed_private": HOST, "egress_allow": "listed.example"}
        async with live(model, **settings) as engine:
            model.enqueue(Reply([start]), Reply([Text("started")]))
            begun = await engine.execute("go")
            name = next(frame.data["data"]["id"] for frame in begun if frame.event == "tool_result")
            read = ToolCall("bash_output", {"id": name, "wait_seconds": 1})
            model.enqueue(Reply([read]), Reply([Text("done")]))
            frames = await engine.execute("read it")
    shown = [frame.data["output"] for frame in frames if frame.event == "tool_result"][-1]
    assert f"[network: {HOST}:{other.port} was refused: commands may only reach" in shown
    assert "running for" in shown
