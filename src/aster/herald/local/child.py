"""The process a local model runs in: `python -m aster.herald.local.child`.

It reads its orders from standard input (one line of JSON), loads the model, says on standard output where it
listens, and lives as long as its standard input stays open, so it never outlives the engine that started it.
"""

import os
import sys
from importlib import import_module
from typing import Any, NoReturn

import msgspec

from aster.contracts.model import Contract, decode, encode

_ONE_AT_A_TIME = 1
_QUIET = 2
_CACHED_MIB = 1024


class Orders(Contract):
    """What to load and how to serve it; whoever asks has to know the key."""

    path: str
    name: str
    key: str
    context: int
    threads: int


class Serving(Contract):
    """The model is loaded and answers there."""

    url: str


def main() -> NoReturn:
    # OpenMP reads these when it is loaded; threads that spin while they wait bring a busy machine to a halt.
    os.environ.update(OMP_WAIT_POLICY="passive", GOMP_SPINCOUNT="0")
    orders = decode(sys.stdin.buffer.readline(), Orders)
    answers = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    server = _serve(orders)
    try:
        os.write(answers, encode(Serving(url=server.listening_address)) + b"\n")
        os.close(answers)
        while sys.stdin.buffer.read(4096):
            pass
    finally:
        # The library's own goodbye waits for answers under way; nobody is left to hear them.
        os._exit(0)


def _serve(orders: Orders) -> Any:
    xllamacpp: Any = import_module("xllamacpp")
    params = xllamacpp.CommonParams()
    params.model.path = orders.path
    params.model_alias = {orders.name}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [orders.key]
    params.cors_origins = "none"
    params.ui = False
    params.endpoint_slots = False
    params.offline = True
    params.verbosity = _QUIET
    params.n_parallel = _ONE_AT_A_TIME
    params.n_ctx = orders.context
    params.cache_ram_mib = _CACHED_MIB
    if orders.threads:
        params.cpuparams.n_threads = orders.threads
        params.cpuparams_batch.n_threads = orders.threads
    return xllamacpp.Server(params)


if __name__ == "__main__":
    try:
        main()
    except msgspec.DecodeError:
        sys.exit("started without orders; the engine starts this process by itself")
