"""Cold start: from the start of the process to the first 200 on ``/health``, on an empty directory."""

from pathlib import Path
from statistics import median

from benchmarks.figures import Figure
from benchmarks.scale import Scale
from benchmarks.servers import aster_server, model_server, proxy_server
from benchmarks.stage import running


async def cold_start(directory: Path, scale: Scale) -> list[Figure]:
    seconds: dict[str, list[float]] = {"aster": [], "proxy": []}
    async with running(model_server(directory)) as model:
        for number in range(scale.starts):
            place = directory / f"start-{number}"
            for server in (aster_server(place, model), proxy_server(place, model)):
                seconds[server.name].append(await server.start())
                await server.stop()
    return [Figure("start", "cold start", "s", median(seconds["aster"]), median(seconds["proxy"]))]
