"""`aster serve`: an engine in the foreground, with a few words to the person who started it.

The words go to a terminal only, and come from the engine's own `/health` once it takes requests, so they say what
is and not what was meant.
"""

import argparse
import asyncio
import sys
import threading
from typing import Any

from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

from aster.cli.first_steps import FirstSteps, chatting
from aster.cli.options import settings_of
from aster.client import AsterClient
from aster.contracts.errors import EngineError
from aster.infra.logging import configure
from aster.infra.settings import Settings
from aster.server.listener import serve

NO_MODEL = (
    "No model is configured: a built-in script answers. Set LLM_PROVIDER (openai or anthropic) and LLM_API_KEY,\n"
    "           or LLM_BASE_URL for Ollama, vLLM or llama.cpp, in the environment or in .env."
)

_MODEL_SETTLED = ("ready", "unavailable")
_WATCH_SECONDS = 0.5


def command(args: argparse.Namespace) -> int:
    chosen = {"engine_log_format": args.log_format, "open_browser": args.open_browser}
    settings = settings_of(args, host=args.host, port=args.port, **chosen)
    terminal = sys.stdout.isatty()
    named = "engine_log_format" in settings.model_fields_set
    configure(settings.engine_log_level, settings.engine_log_format if named or not terminal else "text")
    if not terminal:
        return serve(settings, None)
    steps = FirstSteps(settings)
    return serve(settings, lambda url: _greet(url, settings, steps))


def _greet(url: str, settings: Settings, steps: FirstSteps) -> None:
    """The engine's loop is busy serving; the greeting asks it from outside, like anybody else."""
    threading.Thread(target=lambda: asyncio.run(_print_banner(url, settings, steps)), daemon=True).start()


async def _print_banner(url: str, settings: Settings, steps: FirstSteps) -> None:
    async with AsterClient(url) as client:
        try:
            health = await client.health()
        except EngineError:
            return
        await steps.prepare(url)
        print(banner(url, settings, health.version, health.subsystems), flush=True)
        print(steps.words(url), flush=True)
        steps.open_browser(url)
        if settings.llm_provider == "local":
            await _watch_model(client)


async def _watch_model(client: AsterClient) -> None:
    """A bar while the model's weights come, and a line when it is ready or cannot be."""
    columns = (TextColumn("  model    {task.description}", markup=False), BarColumn(), DownloadColumn())
    with Progress(*columns, transient=True, auto_refresh=False) as bars:
        bar = bars.add_task("", visible=False)
        while True:
            try:
                model = (await client.health()).subsystems.get("llm", {})
            except EngineError:
                return
            if model.get("stage") in _MODEL_SETTLED:
                break
            total = model.get("total_bytes")
            if total is not None:
                done, name = model.get("done_bytes"), model.get("model", "")
                bars.update(bar, description=name, completed=done, total=total, visible=True, refresh=True)
            await asyncio.sleep(_WATCH_SECONDS)
    print(f"  model    {model.get('text')}", flush=True)


def banner(url: str, settings: Settings, version: str, subsystems: dict[str, Any]) -> str:
    """What the engine is and how to talk to it."""
    sandbox: dict[str, Any] = subsystems.get("sandbox", {})
    isolation = f"{sandbox.get('backend')}" if sandbox.get("ok") else f"none ({sandbox.get('reason')})"
    llm: dict[str, Any] = subsystems.get("llm", {})
    demo = settings.llm_provider == "demo"
    model = NO_MODEL if demo else f"{llm.get('model')} ({llm.get('note') or settings.llm_provider})"
    keyed = settings.engine_api_key is not None or settings.engine_key_hash is not None
    return "\n".join(
        [
            f"Aster {version}",
            f"  listens  {url}{'' if keyed else '  (no engine key set: open to this machine alone)'}",
            f"  model    {model}",
            f"  sandbox  {isolation}",
            f"  brain    {settings.sqlite_db_path if settings.database_url is None else 'PostgreSQL (DATABASE_URL)'}",
            f"  talk     {chatting(url)}    (Ctrl-C stops the engine)",
        ]
    )
