"""Servers to connect to, as a process: one for anybody, one behind a key, one behind a login.

Their addresses are told in one line as soon as they answer; they stand until the process is ended. SIGUSR1 ends all
logins.
"""

import asyncio
import json
import signal

from aster.testing.oauth_server import OAuthServer
from tests.asset_directory.oauth import behind_login
from tests.asset_directory.server import made, serving

KEY = "Bearer open sesame"


def _withdraw(login: OAuthServer) -> None:
    login.withdraw()
    print("withdrawn", flush=True)


async def stand() -> None:
    async with serving(made()) as free, serving(made(), accepted={KEY}) as keyed, behind_login() as login:
        asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, _withdraw, login)
        print(json.dumps({"open": free, "keyed": keyed, "login": f"{login.url}/mcp"}), flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(stand())
