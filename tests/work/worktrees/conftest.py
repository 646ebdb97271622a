"""Every row of worktrees runs on a file and on PostgreSQL."""

from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from tests.work.places import Place
from tests.work.worktrees.forest import Forest, Planted, forest, sample


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository with a commit."""
    return sample(tmp_path / "repository")


@pytest.fixture
def planted(place: Place, root: Path) -> Planted:
    """Opens an engine that works in the repository; again and again on the same brain."""

    def opened(**settings: Any) -> AbstractAsyncContextManager[Forest]:
        return forest(root, **place.settings, **settings)

    return opened
