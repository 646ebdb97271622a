"""`aster assets`: the servers (MCP) there are, connecting and disconnecting them."""

import argparse
import asyncio
import getpass
from typing import Final

from aster.cli.actions import Work, act
from aster.cli.screen.clean import clean
from aster.cli.tables import print_table
from aster.client import AsterClient
from aster.contracts.assets import Connection, ConnectionStatus
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.model import encode

_LOOK_SECONDS: Final = 1.0


def command(args: argparse.Namespace) -> int:
    return act(args, _WORK)


async def _list(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    found = await client.assets.connections()
    if as_json:
        print(encode(found).decode())
        return
    rows = [(one.ref_id, one.server_name, one.status, str(one.tools), clean(one.reason or "")) for one in found]
    print_table(("connection", "server", "status", "tools", ""), rows)


async def _servers(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    found = await client.assets.servers()
    if as_json:
        print(encode(found).decode())
        return
    rows = [(one.server_name, clean(one.display_name), one.transport, one.auth_method) for one in found]
    print_table(("server", "name", "transport", "credentials"), rows)


async def _connect(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    config = None if args.server_url is None else {"url": args.server_url}
    if config is not None and args.header:
        config["auth_method"] = "static"
    given = {"headers": _pairs(args.header), "environment": _pairs(args.env)}
    connection = await client.assets.connect(args.server, server_config=config, **given)
    if as_json:
        print(encode(connection).decode())
        return
    if connection.auth_url is not None:
        connection = await _logged_in(client, connection) or connection
    print(f"Connected {clean(connection.server_name)} ({connection.ref_id}): {connection.tools} tools.")
    if connection.reason:
        print(f"Left out: {clean(connection.reason)}")


async def _login(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    found = await client.assets.connections()
    ref_id = next((one.ref_id for one in found if one.server_name == args.connection), args.connection)
    pending = await client.assets.login(ref_id)
    if as_json:
        print(encode(pending).decode())
        return
    connection = await _logged_in(client, pending)
    if connection is not None:
        print(f"Logged in to {clean(connection.server_name)} ({connection.ref_id}): {connection.tools} tools.")


async def _logged_in(client: AsterClient, pending: Connection) -> Connection | None:
    """Show where to log in, and wait until somebody has; where a login still holds, nobody waits for the next."""
    holds = (await _standing(client, pending.ref_id)).status == ConnectionStatus.CONNECTED
    print(f"Open this page and log in (Ctrl-C to do it later):\n{clean(pending.auth_url or '')}", flush=True)
    while not holds:
        now = await _standing(client, pending.ref_id)
        if now.status == ConnectionStatus.CONNECTED:
            return now
        await asyncio.sleep(_LOOK_SECONDS)
    return None


async def _standing(client: AsterClient, ref_id: str) -> Connection:
    found = next((one for one in await client.assets.connections() if one.ref_id == ref_id), None)
    if found is None:
        raise EngineError(ErrorCode.NOT_FOUND, "The connection was ended meanwhile.")
    return found


async def _rotate_key(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    done = await client.assets.rotate_key()
    if as_json:
        print(encode(done).decode())
        return
    print(f"{done.renewed} credentials are under the newest key now, {done.current} were already.")
    if done.lost:
        print(f"{done.lost} cannot be opened with any key that is set; connect their servers again.")


async def _disconnect(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    found = await client.assets.connections()
    ref_id = next((one.ref_id for one in found if one.server_name == args.connection), args.connection)
    connection = await client.assets.disconnect(ref_id)
    print(encode(connection).decode() if as_json else f"Disconnected {clean(connection.server_name)}.")


def _pairs(given: list[str]) -> dict[str, str]:
    """`NAME=VALUE` each; a name alone is asked for, so that a secret need not stand in a command."""
    pairs: dict[str, str] = {}
    for one in given:
        name, equals, value = one.partition("=")
        if not name.strip():
            raise EngineError(
                ErrorCode.INVALID_REQUEST, f"{one!r} should be NAME=VALUE, or a NAME to be asked for it."
            )
        pairs[name.strip()] = value if equals else getpass.getpass(f"{name.strip()}: ")
    return pairs


_WORK: dict[str, Work] = {
    "list": _list,
    "servers": _servers,
    "connect": _connect,
    "login": _login,
    "disconnect": _disconnect,
    "rotate-key": _rotate_key,
}
