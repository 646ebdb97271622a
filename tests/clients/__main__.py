"""``python -m tests.clients``: an engine with an obliging model, and every suite of clients that is not ours.

Each suite is a process that is told where the engine is; the exit code is 1 when one of them fails.
"""

import asyncio
import os
import sys
from pathlib import Path

from aster.testing import ModelServer
from tests.clients.obliging import obliging
from tests.live import live

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
KEY = "client-key"
LANGCHAIN = ROOT / ".venv-clients" / "bin" / "python"
SUITES = {
    "langchain": [
        str(LANGCHAIN),
        *("-m", "pytest", "-q", "-c", str(HERE / "langchain.ini"), "--rootdir", str(HERE)),
        *("-p", "no:cacheprovider", str(HERE / "langchain_suite.py")),
    ],
    "node": ["node", "--test", *map(str, sorted((HERE / "node").glob("*.test.mjs")))],
}


async def main(wanted: list[str]) -> int:
    """Run the suites that are named, or all."""
    failed: list[str] = []
    async with ModelServer([obliging]) as model, live(model, engine_api_key=KEY, memory_enabled=False) as engine:
        known = {"ASTER_URL": engine.url, "ASTER_KEY": KEY, "LANGSMITH_TRACING": "false"}
        for name, command in SUITES.items():
            if wanted and name not in wanted:
                continue
            suite = await asyncio.create_subprocess_exec(*command, cwd=HERE, env={**os.environ, **known})
            if await suite.wait():
                failed.append(name)
    sys.stderr.write(f"failed: {', '.join(failed)}\n" if failed else "every suite passed\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1:])))
