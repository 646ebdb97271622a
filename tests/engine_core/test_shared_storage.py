"""Replicas that do not see the same files are noticed."""

from pathlib import Path

from aster.brain.postgres.brain import PostgresBrain
from aster.brain.sqlite.brain import SqliteBrain
from aster.engine_core.shared_storage import NAME, complaint
from aster.infra.settings import Settings


def at(directory: Path, **more: str) -> Settings:
    return Settings.model_validate({"sqlite_db_path": directory / "brain.sqlite", **more})


async def test_a_directory_of_its_own_is_complained_of(database_url: str, tmp_path: Path) -> None:
    first, second = (tmp_path / name for name in ("first", "second"))
    brain = PostgresBrain(database_url)
    await brain.start()
    assert await complaint(brain, at(first)) is None
    assert await complaint(brain, at(first)) is None
    said = await complaint(brain, at(second))
    assert said is not None
    assert f"{second} is not the directory that the other replicas keep files in" in said
    assert await complaint(brain, at(second, allowed_roots=str(tmp_path))) is None
    second.mkdir()
    (second / NAME).write_text((first / NAME).read_text() + "\n")
    assert await complaint(brain, at(second)) is None
    await brain.close()


async def test_an_engine_alone_has_nothing_to_share(tmp_path: Path) -> None:
    brain = SqliteBrain(tmp_path / "brain.sqlite")
    await brain.start()
    assert await complaint(brain, at(tmp_path)) is None
    assert not (tmp_path / NAME).exists()
    await brain.close()
