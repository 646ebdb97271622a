"""A probe sees what a sandbox lets through."""

from pathlib import Path

import pytest

from aster.sandbox.identity import tool_identity
from aster.sandbox.limits import Limits
from aster.sandbox.probe import probe
from aster.sandbox.unconfined import Unconfined
from tests.sandbox.backends import boxed, working


@pytest.mark.parametrize("name", working())
async def test_what_isolates_passes(name: str, tmp_path: Path) -> None:
    async with boxed(name, tmp_path) as box:
        assert await probe(box.sandbox) is None


async def test_what_does_not_isolate_is_seen_through() -> None:
    sandbox = Unconfined(Limits(), tool_identity())
    problem = await probe(sandbox)
    sandbox.close()
    assert problem is not None
    for leak in ("read-outside", "write-outside", "change-outside", "tcp", "udp"):
        assert leak in problem
