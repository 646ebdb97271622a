"""Work on what strangers wrote, done in a process of its own: what goes wrong there goes wrong nowhere else.

The worker is a module of ours that limits itself by what it is told (time, identity), reads its material from its
input and answers on its output. One that takes too long is ended.
"""

import asyncio
import contextlib
import json
import sys
from math import ceil
from typing import Any, Final

from aster.sandbox.identity import Identity

_PATIENCE: Final = 4
"""How much longer than its limit of processor time a worker is waited for."""


async def worked(
    module: str, material: bytes, asked: dict[str, Any], identity: Identity | None, seconds: float
) -> bytes | None:
    """What the worker says; None when it failed or had to be ended."""
    request = {
        **asked,
        "seconds": ceil(seconds),
        "uid": identity.uid if identity else None,
        "gid": identity.gid if identity else None,
    }
    argv = (sys.executable, "-I", "-m", module, json.dumps(request))
    pipe, none = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
    worker = await asyncio.create_subprocess_exec(*argv, stdin=pipe, stdout=pipe, stderr=none, env={})
    try:
        async with asyncio.timeout(seconds * _PATIENCE):
            answer, _ = await worker.communicate(material)
    except TimeoutError:
        return None
    finally:
        with contextlib.suppress(ProcessLookupError):
            worker.kill()
        await worker.wait()
    return answer if worker.returncode == 0 else None
