"""Runs the model server as a process of its own: ``python -m aster.testing [--port P] [--script FILE]``.

One JSON line with its url tells that it is ready; SIGTERM or SIGINT stop it.
"""

import argparse
import asyncio
import os
import signal
import sys
from pathlib import Path

import msgspec
from msgspec import json

from aster.testing.script import Script
from aster.testing.server import ModelServer

_KEEP = 1000


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m aster.testing", description="A scripted model server.")
    parser.add_argument("--port", type=int, default=0, help="port on 127.0.0.1 (default: any free one)")
    parser.add_argument("--script", type=Path, help="JSON file with the rules")
    parser.add_argument("--rate", type=float, help="tokens per second of replies that state none")
    parser.add_argument("--keep", type=int, default=_KEEP, help="how many calls are remembered (%(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="decides the rules with a chance")
    return parser.parse_args()


async def _serve(server: ModelServer) -> None:
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped.set)
    async with server:
        ready = {"url": server.url, "port": server.port, "pid": os.getpid()}
        sys.stdout.write(json.encode(ready).decode() + "\n")
        sys.stdout.flush()
        await stopped.wait()


def main() -> int:
    options = _options()
    try:
        script = Script.load(options.script.read_bytes()) if options.script else Script()
    except (OSError, msgspec.DecodeError) as error:
        sys.stderr.write(f"The script {options.script} cannot be used: {error}\n")
        return 2
    rate = options.rate if options.rate is not None else script.rate
    server = ModelServer(script.rules, port=options.port, rate=rate, keep=options.keep, seed=options.seed)
    if script.queue:
        server.enqueue(*script.queue)
    try:
        import uvloop
    except ImportError:
        factory = None
    else:
        factory = uvloop.new_event_loop
    with asyncio.Runner(loop_factory=factory) as runner:
        runner.run(_serve(server))
    return 0


if __name__ == "__main__":
    sys.exit(main())
