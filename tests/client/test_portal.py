"""The thread behind the blocking client: it is there when it is needed, and gone when it is not."""

import asyncio
import gc
import subprocess
import sys
import threading
from collections.abc import AsyncGenerator, Iterator

import pytest

from aster.client import EngineUnreachable, SyncAsterClient
from aster.client.portal import Portal
from tests.client.elsewhere import Elsewhere, elsewhere
from tests.process import free_port


@pytest.fixture(scope="module")
def place() -> Iterator[Elsewhere]:
    with elsewhere() as running:
        yield running


def threads() -> int:
    """How many clients have a thread."""
    return sum(thread.name == "aster-client" for thread in threading.enumerate())


def run(program: str) -> "subprocess.CompletedProcess[bytes]":
    argv = [sys.executable, "-W", "error", "-c", f"from aster.client import SyncAsterClient\n{program}"]
    return subprocess.run(argv, capture_output=True, timeout=30, check=False)


def test_a_client_that_is_not_used_starts_nothing() -> None:
    with SyncAsterClient():
        assert threads() == 0


def test_closing_ends_the_thread(place: Elsewhere, task: str) -> None:
    with SyncAsterClient(place.url) as client:
        client.ask("[[text=1]]", task)
        assert threads() == 1
    assert threads() == 0
    client.close()
    for use in (client.health, lambda: list(client.execute("hello", task))):
        with pytest.raises(RuntimeError, match="is closed"):
            use()


def test_closing_leaves_nothing_at_all(place: Elsewhere, task: str) -> None:
    done = run(f"""
import threading
with SyncAsterClient({place.url!r}) as client:
    client.files.write({task!r}, "note.txt", "hello")
    print(threading.active_count() > 2)
print(*threading.enumerate())
""")
    said = done.stdout.decode().splitlines()
    assert (done.stderr, said[0], said[1].count("<")) == (b"", "True", 1)


def test_a_client_that_nobody_holds_ends_by_itself(place: Elsewhere, task: str) -> None:
    files = SyncAsterClient(place.url).files
    files.write(task, "note.txt", "hello")
    stream = SyncAsterClient(place.url).execute(f"[[text=3 hold={task} at=1]]", task)
    assert next(stream).seq == 1
    assert files.read(task, "note.txt") == b"hello"
    assert threads() == 2
    del files, stream
    gc.collect()
    assert threads() == 0
    place.release(task)


def test_closing_ends_what_others_wait_for(place: Elsewhere, task: str) -> None:
    client = SyncAsterClient(place.url)
    begun, ended = threading.Event(), list[str]()

    def follow() -> None:
        try:
            for _ in client.execute(f"[[text=3 hold={task} at=1]]", task):
                begun.set()
        except RuntimeError as error:
            ended.append(str(error))

    following = threading.Thread(target=follow)
    following.start()
    assert begun.wait(10)
    client.close()
    following.join(10)
    assert ended == ["The client was closed while this was under way."]
    place.release(task)


def test_a_program_that_closes_nothing_ends_all_the_same(place: Elsewhere, task: str) -> None:
    done = run(f"""
client = SyncAsterClient({place.url!r})
stream = client.execute("[[text=3 hold={task} at=1]]", {task!r})
print(next(stream).seq)
""")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"1\n", b"")
    place.release(task)


def test_a_program_that_is_interrupted_ends_with_that(place: Elsewhere, task: str) -> None:
    done = run(f"""
import os, signal, threading
with SyncAsterClient({place.url!r}) as client:
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    client.ask("[[text=3 hold={task} at=1]]", {task!r})
""")
    assert done.stderr.rstrip().endswith(b"KeyboardInterrupt")
    assert done.stderr.count(b"Traceback") == 1
    place.release(task)


def test_work_waits_for_who_reads_it() -> None:
    made: list[int] = []
    ended: list[str] = []

    async def count() -> AsyncGenerator[int]:
        try:
            while True:
                made.append(len(made))
                yield made[-1]
        finally:
            ended.append("counting")

    async def farewell() -> None:
        ended.append("farewell")

    portal = Portal(farewell)
    numbers = portal.stream(count)
    assert [next(numbers) for _ in range(200)] == list(range(200))
    portal.call(lambda: asyncio.sleep(0.05))
    assert len(made) < 300
    numbers.close()
    assert ended == ["counting"]
    portal.close()
    assert ended == ["counting", "farewell"]


def test_nobody_there_is_said_in_a_sentence() -> None:
    with SyncAsterClient(f"http://127.0.0.1:{free_port()}") as client, pytest.raises(EngineUnreachable) as lost:
        client.health()
    assert lost.value.message.startswith(f"No engine answers at {client.url} (")
    assert (lost.value.sent, lost.value.retry) == (False, "after")
