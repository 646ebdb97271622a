"""An item that is changed again and again keeps its newest changes, and the one that made it."""

import asyncio

from tests.work.graph.boards import board
from tests.work.places import Place


async def test_what_is_beyond_the_newest_changes_is_forgotten(place: Place) -> None:
    async with board(**place.settings) as first:
        often, seldom = await first.ids("often", "seldom")
        for at in range(20):
            for item in (often, seldom) if at < 3 else (often,):
                changed = await first.http.patch(f"/work/items/{item}", json={"subject": str(at)})
                assert changed.status_code == 200
        assert len(await first.history(often)) == 21
    async with board(**place.settings, work_history_max=12) as second, asyncio.timeout(10):
        while len(kept := await second.history(often)) > 13:
            await asyncio.sleep(0.02)
        assert [change["action"] for change in kept] == ["updated"] * 12 + ["created"]
        assert kept[0]["version"] == 21
        assert len(await second.history(seldom)) == 4
