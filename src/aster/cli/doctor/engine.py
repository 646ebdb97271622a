"""The engine and its model: do they answer, and if not, why."""

import argparse
import socket

from aster.cli.address import Address, address, own
from aster.cli.doctor.local_model import local_model
from aster.cli.doctor.report import Finding
from aster.client import AsterClient, EngineUnreachable
from aster.contracts.errors import EngineError, ErrorCode
from aster.herald.endpoint import Endpoint
from aster.herald.gateway import Herald
from aster.herald.roster import BUILT_IN
from aster.infra.settings import Settings

_SILENCE_SECONDS = 10.0


async def model(settings: Settings) -> Finding:
    """Ask the model's endpoint for its list of models; that costs nothing."""
    if settings.llm_pool_foreground and settings.llm_provider in BUILT_IN:
        return Finding(check="model", status="ok", found="the nodes of LLM_POOL_FOREGROUND answer")
    if settings.llm_provider == "demo":
        return Finding(
            check="model",
            status="warn",
            found="no model is configured; a built-in script answers",
            fix="Set LLM_PROVIDER and LLM_API_KEY (or LLM_BASE_URL for Ollama, vLLM, llama.cpp).",
        )
    if settings.llm_provider == "local":
        return await local_model(settings)
    try:
        herald = Herald(Endpoint.from_settings(settings))
    except EngineError as error:
        return Finding(check="model", status="fail", found="its endpoint is not set right", fix=error.message)
    try:
        probe = await herald.probe()
    finally:
        await herald.close()
    name = f"{herald.endpoint.model} at {herald.endpoint.base_url}"
    if not probe.reachable:
        fix = "Check LLM_BASE_URL and the network."
        return Finding(check="model", status="fail", found=f"{name} cannot be reached: {probe.problem}", fix=fix)
    if probe.problem:
        return Finding(check="model", status="fail", found=f"{name}: {probe.problem}", fix="Check LLM_API_KEY.")
    return Finding(check="model", status="ok", found=f"{name} answers in {probe.latency_ms:.0f} ms")


async def here(args: argparse.Namespace, settings: Settings) -> Finding:
    """This machine's engine: running and well, or its port free for it."""
    where = own(args, settings)
    found = await _visit(where)
    if found is not None:
        return found
    try:
        with socket.create_server((settings.host, settings.port)):
            pass
    except OSError as error:
        return Finding(
            check="port",
            status="fail",
            found=f"an engine cannot listen on {settings.host}, port {settings.port}: {error.strerror}",
            fix="Set HOST and PORT to an address that is free.",
        )
    return Finding(check="port", status="ok", found=f"no engine runs at {where.url}; the port is free")


async def elsewhere(args: argparse.Namespace) -> Finding:
    """An engine that was named: it has to be there."""
    where = address(args)
    missing = Finding(
        check="engine",
        status="fail",
        found=f"no engine answers at {where.url}",
        fix="Check the address, or start an engine there with `aster serve`.",
    )
    return await _visit(where) or missing


async def _visit(where: Address) -> Finding | None:
    """What the engine there says of itself and of our key; None when nothing is there."""
    async with AsterClient(where.url, where.key, silence=_SILENCE_SECONDS) as client:
        try:
            health = await client.health()
            await client.tasks(limit=1)
        except EngineUnreachable as error:
            if not error.sent:
                return None
            return Finding(check="engine", status="fail", found=error.message, fix="Restart it; its log says more.")
        except EngineError as error:
            keyed = error.code in (ErrorCode.INVALID_KEY, ErrorCode.KEY_ROTATION_PENDING)
            fix = "Set ENGINE_KEY to one of its keys." if keyed else "Something else may listen there; set PORT."
            return Finding(check="engine", status="fail", found=f"{where.url}: {error.message}", fix=fix)
    found = f"{where.url} runs version {health.version} and is {health.status}"
    if health.status == "ok":
        return Finding(check="engine", status="ok", found=found)
    unwell = ", ".join(
        f"{name}: {part.get('problem') or part.get('reason') or 'not ok'}"
        for name, part in health.subsystems.items()
        if not part.get("ok")
    )
    return Finding(check="engine", status="warn", found=found, fix=unwell or "Wait until it has started again.")
