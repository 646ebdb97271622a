"""The checks, in the order in which what they find explains what comes after.

Nothing is changed by looking: no file is made, no lock is kept, no port stays open.
"""

import argparse
import os

from aster.brain.beside import place_of
from aster.cli.address import address, own
from aster.cli.doctor import brain, engine, machine, memory
from aster.cli.doctor.catalog import catalog
from aster.cli.doctor.connectors import connections, servers
from aster.cli.doctor.pools import pools
from aster.cli.doctor.report import Finding
from aster.cli.options import settings_of
from aster.contracts.errors import EngineError


async def examine(args: argparse.Namespace) -> list[Finding]:
    """Look at everything that can be looked at."""
    findings = [machine.python(), machine.versions()]
    if getattr(args, "url", None) or os.environ.get("ENGINE_URL"):
        return [*findings, await engine.elsewhere(args), *await connections(address(args))]
    try:
        settings = settings_of(args)
    except EngineError as error:
        wrong = Finding(
            check="settings", status="fail", found=error.message, fix="Change them in .env or the shell."
        )
        return [*findings, wrong]
    return [
        *findings,
        Finding(check="settings", status="ok", found="all values are valid"),
        await machine.sandbox(settings),
        await engine.model(settings),
        *await pools(settings),
        *catalog(settings),
        *servers(settings),
        *brain.examine(place_of(settings)),
        memory.examine(settings),
        machine.disk(settings.data_dir),
        await engine.here(args, settings),
        *await connections(own(args, settings)),
    ]
