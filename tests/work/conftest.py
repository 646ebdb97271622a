"""What tests of work share: a brain in a file, and one on PostgreSQL."""

from pathlib import Path

import pytest

from tests.work.places import Place


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    url = request.getfixturevalue("clean_url") if request.param == "postgres" else None
    return Place(tmp_path / "brain.sqlite", url)
