"""Every test of the work graph runs on a file and on PostgreSQL."""

import pytest

from tests.work.graph.boards import Opened, board
from tests.work.places import Place


@pytest.fixture
def opened(place: Place) -> Opened:
    """Opens an engine on one brain; again and again on the same one."""
    return lambda: board(**place.settings)
