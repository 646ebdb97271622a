"""Settings as a command sees them: the options given on its line over the environment over the file."""

import argparse
from pathlib import Path
from typing import Any

from aster.contracts.errors import EngineError, ErrorCode
from aster.infra.settings import Settings, load


def settings_of(args: argparse.Namespace, **chosen: Any) -> Settings:
    """Read the settings; a file that was named has to be there."""
    file: str | None = getattr(args, "env_file", None)
    if file is not None and not Path(file).is_file():
        raise EngineError(ErrorCode.CONFIGURATION_INVALID, f"There is no file {file} to read settings from.")
    brain: str | None = getattr(args, "db", None)
    return load(env_file=Path(file or ".env"), sqlite_db_path=Path(brain) if brain else None, **chosen)
