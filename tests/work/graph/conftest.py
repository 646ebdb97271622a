"""Every test of the work graph runs on a file and on PostgreSQL."""

from pathlib import Path
from typing import Any

import pytest

from tests.work.graph.boards import Opened, board


@pytest.fixture(params=["sqlite", "postgres"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Opened:
    """Opens an engine on one brain; again and again on the same one."""
    place: dict[str, Any] = {"sqlite_db_path": tmp_path / "brain.sqlite"}
    if request.param == "postgres":
        place = {"database_url": request.getfixturevalue("clean_url"), "runner": "local"}
    return lambda: board(**place)
