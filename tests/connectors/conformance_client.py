"""The connectors' own session as a client for the public conformance suite: `… <address of its server>`.

What the suite wants of a scenario is in its name: connect, list, call a tool, answer a form with nothing but defaults.
"""

import asyncio
import sys

from aster.asset_directory.actions import offered
from aster.asset_directory.asking import Sampled, Sampling, Told, Wanted
from aster.asset_directory.exchange import Exchange
from aster.asset_directory.http import http_transport
from aster.asset_directory.link import Link
from aster.contracts.assets import ServerConfigPayload
from aster.contracts.turn import Answer, Question
from aster.engine_core.connectors import elicitation
from aster.herald.breaker import Breaker
from aster.sandbox.reach import Reach

GIVEN = {"add_numbers": {"a": 5, "b": 3}}


class Nobody:
    task = "conformance"

    def progress(self, text: str) -> None:
        del text

    async def sample(self, wanted: Sampling) -> Sampled:
        del wanted
        return Sampled(text="a word", model="none", stop_reason="endTurn")


def filled(wanted: Wanted) -> Told:
    """What a person means who accepts a form as it is."""
    asked = {"requested_schema": wanted.schema} if wanted.schema else {}
    return elicitation.told(Question(request_id="", kind="elicitation", asked=asked, answer=Answer(text="{}")))


async def main(url: str) -> None:
    server = ServerConfigPayload(server_name="suite", url=url, timeout_seconds=20)
    reach = Reach(private="127.0.0.1,localhost,::1")
    link = Link(server, lambda: http_transport(server, {}, reach, lambda what: None), lambda: None, Breaker())
    await link.open()
    try:
        for action in offered("suite", await link.listed()).actions:
            if action.kind != "tool":
                continue
            exchange = Exchange(link, action, GIVEN.get(action.original, {}), Nobody())
            link.exchanges["one"] = exchange
            exchange.begin()
            while isinstance(found := await exchange.finished(), Wanted):
                exchange.tell(filled(found))
            sys.stderr.write(f"{action.name}: {found.output}\n")
    finally:
        await link.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[-1]))
