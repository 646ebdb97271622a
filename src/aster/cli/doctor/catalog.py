"""The operator's catalog: can every tool and agent in it be used."""

from aster.catalog import agent_folders
from aster.catalog.catalog import Catalog
from aster.cli.doctor.report import Finding
from aster.contracts.errors import EngineError
from aster.infra.settings import Settings
from aster.utility_directory.platform_registry import platform_tools


def catalog(settings: Settings) -> list[Finding]:
    """One finding for all that is declared; none when there is no catalog."""
    if settings.catalog_dir is None:
        return []
    platform = platform_tools(settings)
    try:
        found = Catalog(settings, platform).load()
        agents = [kept for kept in agent_folders.read(settings).values() if kept.source == "catalog"]
    except EngineError as error:
        fix = "Correct these files (docs/catalog.md); an engine does not start with them."
        return [Finding(check="catalog", status="fail", found=error.message, fix=fix)]
    count = len(found.names) - len(platform.names)
    return [Finding(check="catalog", status="ok", found=f"declared tools: {count}, agents: {len(agents)}")]
