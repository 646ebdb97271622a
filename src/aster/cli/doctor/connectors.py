"""Connected servers (MCP): whether those of the catalog can be read, and how one's own connections stand."""

from collections import Counter

from aster.asset_directory.server_file import read_servers
from aster.cli.address import Address
from aster.cli.doctor.report import Finding
from aster.client import AsterClient, EngineUnreachable
from aster.contracts.assets import ConnectionStatus
from aster.contracts.errors import EngineError
from aster.infra.settings import Settings

_SILENCE_SECONDS = 10.0


def servers(settings: Settings) -> list[Finding]:
    """What the operator has registered; nothing is said when there is no catalog."""
    if settings.catalog_dir is None:
        return []
    try:
        found = read_servers(settings.catalog_dir / "mcp")
    except EngineError as error:
        fix = "Correct these files (docs/connectors.md); an engine does not start with them."
        return [Finding(check="servers", status="fail", found=error.message, fix=fix)]
    return [Finding(check="servers", status="ok", found=f"registered: {len(found)}")]


async def connections(where: Address) -> list[Finding]:
    """How the connections of whoever asks stand; nothing is said when no engine answers, or there are none."""
    async with AsterClient(where.url, where.key, silence=_SILENCE_SECONDS) as client:
        try:
            found = await client.assets.connections()
        except (EngineUnreachable, EngineError):
            return []
    if not found:
        return []
    counts = Counter(str(one.status) for one in found)
    shown = ", ".join(f"{status.replace('_', ' ')}: {count}" for status, count in sorted(counts.items()))
    unwell = [one.server_name for one in found if one.status != ConnectionStatus.CONNECTED]
    fixes = [f"Connect it again with `aster assets connect {name}`." for name in unwell]
    fixes += [
        f"{one.server_name} failed several times and is left alone for a while." for one in found if one.resting
    ]
    if not fixes:
        return [Finding(check="connections", status="ok", found=shown)]
    return [Finding(check="connections", status="warn", found=shown, fix=" ".join(fixes))]
