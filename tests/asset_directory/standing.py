"""Servers to connect to, as a process: one for anybody, one behind a key, one behind a login.

Their addresses are told in one line as soon as they answer; they stand until the process is ended.
"""

import asyncio
import json

from tests.asset_directory.oauth import behind_login
from tests.asset_directory.server import made, serving

KEY = "Bearer open sesame"


async def stand() -> None:
    async with serving(made()) as free, serving(made(), accepted={KEY}) as keyed, behind_login() as login:
        print(json.dumps({"open": free, "keyed": keyed, "login": f"{login.url}/mcp"}), flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(stand())
