"""The launcher with the sandlock library as what confines the command: the same keeper around it, sandlock's rules
and supervisor inside.

sandlock leaves modes, owners and times of files to the file system's permissions, and so limits and priorities of
other processes. A filter of ours denies what it leaves open; unlike our own launcher, it cannot tell places apart.
"""

import os
import sys

from sandlock import Sandbox  # pyright: ignore[reportMissingTypeStubs] - its types are in its source

from aster.sandbox.launcher import Kernel, Order, filter_calls, main

_KILLED = 137


def _supplement(kernel: Kernel, order: Order) -> int:
    filter_calls(kernel, bytes.fromhex(order.one("filter") or ""))
    return -1


def _supervise(order: Order) -> None:
    """Run the command below this process, which ends with it."""
    sandbox = Sandbox(
        fs_readable=[*order.each("system"), *order.each("read")],
        fs_writable=[*order.each("device"), *order.each("write")],
        clean_env=True,
        env=order.environment,
        cwd=order.one("cwd"),
        no_coredump=True,
    )
    code = sandbox.run_interactive(order.argv)
    os._exit(_KILLED if code < 0 else code)


if __name__ == "__main__":
    main(sys.argv[1:], _supplement, _supervise)
