"""The nodes of the pools: is each where the settings say it is."""

import asyncio

from aster.cli.doctor.report import Finding
from aster.contracts.errors import EngineError
from aster.herald.endpoint import Endpoint
from aster.herald.gateway import Herald
from aster.herald.roster import POOL_NAMES, roster
from aster.infra.settings import Settings


async def pools(settings: Settings) -> list[Finding]:
    """One finding for all nodes; none when no pool is set up."""
    try:
        listed = dict.fromkeys(endpoint for pool in POOL_NAMES for endpoint in roster(settings, pool))
    except EngineError as error:
        return [Finding(check="pools", status="fail", found="a node is not set right", fix=error.message)]
    if not listed:
        return []
    problems = [problem for problem in await asyncio.gather(*map(_problem, listed)) if problem]
    if problems:
        fix = "Correct LLM_POOL_* or start what they name; the other nodes answer meanwhile."
        return [Finding(check="pools", status="fail", found="; ".join(problems), fix=fix)]
    return [Finding(check="pools", status="ok", found=f"nodes that answer: {len(listed)}")]


async def _problem(endpoint: Endpoint) -> str | None:
    herald = Herald(endpoint)
    try:
        probe = await herald.probe()
    finally:
        await herald.close()
    return f"{endpoint.model} at {endpoint.base_url}: {probe.problem}" if probe.problem else None
