"""TypeScript examples, as they stand on their pages, run by Node with the client's own source."""

from pathlib import Path

import pytest

from tests.docs.blocks import ROOT, Block, blocks
from tests.docs.stage import node, stage

CLIENT = ROOT / "web" / "packages" / "client"
SOURCE = ("--experimental-transform-types", "--disable-warning=ExperimentalWarning", "--conditions=aster-source")
BLOCKS = [block for block in blocks("ts") if block.reason is None]


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.where)
async def test_the_example_runs(block: Block, tmp_path: Path) -> None:
    async with stage(tmp_path) as here:
        packages = tmp_path / "node_modules" / "@aster"
        packages.mkdir(parents=True)
        (packages / "client").symlink_to(CLIENT)
        (tmp_path / "example.mts").write_text(here.here(block.text))
        assert (await here.run(*node(*SOURCE, "example.mts"))).strip()
