"""A turn that asks for several things at once, as sub-agents do, while somebody else answers too."""

import asyncio
from collections.abc import AsyncGenerator

from aster.cli.questions import Reply
from aster.cli.turn_view import Ending, TurnView
from aster.client import AsterClient, ThreadEvent, Transcript
from aster.contracts.events import HitlRequest, HitlResolved, Phase, ThreadLifecycle


class Waiting:
    """Is asked, and never answers."""

    def __init__(self) -> None:
        self.asked: asyncio.Queue[str] = asyncio.Queue()

    async def ask(self, request: HitlRequest) -> Reply | None:
        self.asked.put_nowait(request.request_id)
        await asyncio.Event().wait()
        return None


async def test_the_next_question_is_asked_when_the_first_is_answered_elsewhere() -> None:
    waiting = Waiting()

    async def turn() -> AsyncGenerator[ThreadEvent]:
        yield ThreadLifecycle(phase=Phase.STARTED, turn_id="t", seq=1)
        for seq, name in ((2, "first"), (3, "second")):
            yield HitlRequest(request_id=name, kind="permission", question=name, turn_id="t", seq=seq)
        assert await waiting.asked.get() == "first"
        yield HitlResolved(request_id="first", answer="no", turn_id="t", seq=4)
        assert await asyncio.wait_for(waiting.asked.get(), 5) == "second"
        yield ThreadLifecycle(phase=Phase.COMPLETED, turn_id="t", seq=5)

    async with AsterClient("http://127.0.0.1:9") as client:
        view = TurnView(client, "task", Transcript(), waiting)
        assert await view.watch(turn()) is Ending.ENDED
    assert waiting.asked.empty()
