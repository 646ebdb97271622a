"""The model gateway by itself: what a token costs between the socket and the event, and what it costs to import.

Beside the first stands the least a client can do: httpx2 reading the same bytes line by line, and a JSON decoder.
Beside the second stands the import of httpx2 alone.
"""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from itertools import cycle, islice
from pathlib import Path
from statistics import median
from time import thread_time

import httpx2
import msgspec

from aster.contracts.blocks import TextBlock
from aster.contracts.llm import BlockFinished, ModelRequest
from aster.contracts.messages import Message
from aster.contracts.tools import ToolDef
from aster.herald.endpoint import Endpoint
from aster.herald.gateway import Herald
from aster.herald.protocols import PROTOCOLS
from benchmarks.canned import serving
from benchmarks.figures import Figure
from benchmarks.prompt import Prompt, WrongAnswer, say
from benchmarks.scale import Scale
from benchmarks.servers import model_server
from benchmarks.stage import running

TOOL = ToolDef(name="read_file", description="Reads.", input_schema={"properties": {"path": {"type": "string"}}})
SDKS = ("anthropic", "openai", "google.genai", "mcp", "requests", "aiohttp", "httpx")
"""What the gateway does not need: the providers' own clients, and other ways to speak HTTP."""


def endpoints(url: str) -> dict[str, Endpoint]:
    """Each protocol at this address."""
    return {
        "anthropic": Endpoint.anthropic("key", "scripted", url),
        "openai_chat": Endpoint.openai_compatible(f"{url}/v1", "scripted", "key"),
        "openai_responses": Endpoint.openai_compatible(f"{url}/v1", "scripted", "key", "responses"),
        "gemini": Endpoint.gemini("key", "scripted", f"{url}/v1beta"),
    }


async def parse_cost(directory: Path, scale: Scale) -> list[Figure]:
    """Processor time of the reading thread for each token of a long answer, with a tool offered."""
    prompt = say(scale.stream_tokens)
    request = ModelRequest(
        model="scripted",
        system="",
        messages=(Message(role="user", content=(TextBlock(text=prompt.text),)),),
        tools=(TOOL,),
    )
    async with running(model_server(directory)) as model:
        recorded = {
            name: await _recorded(endpoint, request)
            for name, endpoint in endpoints(f"http://127.0.0.1:{model.port}").items()
        }
    return [await _beside(name, body, request, prompt, scale) for name, body in recorded.items()]


async def _recorded(endpoint: Endpoint, request: ModelRequest) -> bytes:
    async with httpx2.AsyncClient(trust_env=False) as client:
        answer = await client.send(_posted(client, endpoint, request))
        return answer.raise_for_status().content


def _posted(client: httpx2.AsyncClient, endpoint: Endpoint, request: ModelRequest) -> httpx2.Request:
    protocol = PROTOCOLS[endpoint.protocol]
    path, headers, body = protocol.encode(request, endpoint)
    sent = {"content-type": "application/json", **protocol.headers, **endpoint.auth, **headers}
    return client.build_request("POST", endpoint.base_url + path, headers=sent, content=body)


async def _beside(name: str, body: bytes, request: ModelRequest, prompt: Prompt, scale: Scale) -> Figure:
    seconds: dict[str, list[float]] = {"herald": [], "lines": []}
    with serving(body) as url:
        endpoint = endpoints(url)[name]
        herald = Herald(endpoint)
        async with httpx2.AsyncClient(trust_env=False) as client:
            readers: dict[str, Callable[[], Awaitable[None]]] = {
                "herald": lambda: _events(herald, request, prompt),
                "lines": lambda: _lines(client, endpoint, request, prompt),
            }
            for reader in readers.values():
                await reader()
            for who in islice(cycle(readers), 2 * scale.parsed_streams):
                began = thread_time()
                await readers[who]()
                seconds[who].append(thread_time() - began)
        await herald.close()
    aster, lines = (median(seconds[who]) / prompt.words * 1e6 for who in ("herald", "lines"))
    return Figure("parse", f"{name}, socket to event; beside it lines and JSON", "µs/token", aster, lines)


async def _events(herald: Herald, request: ModelRequest, prompt: Prompt) -> None:
    said = ""
    async with herald.stream(request) as call:
        async for batch in call:
            for event in batch:
                if isinstance(event, BlockFinished) and isinstance(event.block, TextBlock):
                    said += event.block.text
    prompt.check(said)


async def _lines(client: httpx2.AsyncClient, endpoint: Endpoint, request: ModelRequest, prompt: Prompt) -> None:
    frames = 0
    answer = await client.send(_posted(client, endpoint, request), stream=True)
    async for line in answer.aiter_lines():
        if line.startswith("data: {"):
            msgspec.json.decode(line[6:])
            frames += 1
    await answer.aclose()
    if frames < prompt.words:
        raise WrongAnswer(f"{frames} frames for {prompt.words} words")


async def import_time(directory: Path, scale: Scale) -> list[Figure]:
    """Processor time of an import in a fresh interpreter; the gateway must not bring along what it does not use."""
    rows = {
        "the gateway; beside it httpx2": "aster.herald.gateway",
        "the pools; beside it httpx2": "aster.herald.pools",
    }
    milliseconds: dict[str, list[float]] = {}
    for _ in range(scale.imports):
        for module in ("httpx2", *rows.values()):
            taken, found = await imported(module)
            if found:
                raise RuntimeError(f"{module} imports {', '.join(found)}")
            milliseconds.setdefault(module, []).append(taken * 1e3)
    bare = median(milliseconds["httpx2"])
    return [Figure("import", name, "ms", median(milliseconds[module]), bare) for name, module in rows.items()]


async def imported(module: str) -> tuple[float, list[str]]:
    """Seconds of processor time to import a module, and which of the things nobody needs came with it."""
    program = (
        "import sys, time; began = time.process_time(); __import__(sys.argv[1]);"
        " taken = time.process_time() - began; import json; print(json.dumps([taken, sorted(sys.modules)]))"
    )
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, module, stdout=asyncio.subprocess.PIPE
    )
    printed, _ = await child.communicate()
    if child.returncode:
        raise RuntimeError(f"{module} cannot be imported")
    taken, names = json.loads(printed)
    return taken, [name for name in SDKS if name in names]
