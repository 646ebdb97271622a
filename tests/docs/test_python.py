"""Python examples, as they stand on their pages, run one after another before a real engine."""

import ast
import asyncio
import inspect
from pathlib import Path
from typing import Any

import pytest

from tests.docs.blocks import ROOT, blocks, blocks_of
from tests.docs.stage import Stage, stage

OWN = {"docs/sdk.md": "tests/client/test_examples.py"}
"""Pages whose programs need a script of their own, and the test that runs them all."""
PAGES = sorted({block.page for block in blocks("python") if block.reason is None} - OWN.keys())


async def run(here: Stage, code: str, names: dict[str, Any]) -> None:
    """An example may wait where it stands, as in a notebook; one that does not has a thread of its own."""
    compiled = compile(here.here(code), "example", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    if compiled.co_flags & inspect.CO_COROUTINE:
        await eval(compiled, names)
    else:
        await asyncio.to_thread(exec, compiled, names)


@pytest.mark.parametrize("page", PAGES)
async def test_the_examples_of_a_page_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names: dict[str, Any] = {"__name__": "__main__"}
    async with stage(tmp_path) as here:
        monkeypatch.chdir(tmp_path)
        for block in blocks_of(ROOT / page):
            if block.language == "python" and block.reason is None:
                await run(here, block.text, names)
        for value in names.values():
            if hasattr(value, "close") and not inspect.isclass(value):
                closed = value.close()
                if inspect.isawaitable(closed):
                    await closed


@pytest.mark.parametrize(("page", "test"), OWN.items())
def test_a_page_that_is_left_out_here_is_run_by_its_own_test(page: str, test: str) -> None:
    assert page in (ROOT / test).read_text()
