"""What a process can make again lies where nobody else looks, and not on what replicas share."""

from pathlib import Path

from aster.infra.scratch import scratch
from aster.infra.settings import Settings
from aster.sandbox.workspaces import search_index


def test_it_is_one_directory_that_only_the_process_can_enter() -> None:
    assert scratch() == scratch()
    assert scratch().stat().st_mode & 0o777 == 0o700


def test_replicas_do_not_share_what_they_have_indexed(tmp_path: Path) -> None:
    alone = {"sqlite_db_path": tmp_path / "brain.sqlite"}
    assert search_index(Settings.model_validate(alone), (tmp_path,)).is_relative_to(tmp_path)
    one_of_many = Settings.model_validate({**alone, "database_url": "postgresql://db/aster"})
    assert search_index(one_of_many, (tmp_path,)).is_relative_to(scratch())
