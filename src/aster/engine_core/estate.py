"""What a replica that died has left beside its turns: money it had set aside, and commands that ended with it.

Whoever finds it dead sees to it, for all; doing it twice does nothing.
"""

from aster.engine_core.services import Services


async def owners(services: Services) -> set[str]:
    """The replicas that would leave something."""
    return await services.brain.owners()


async def settle(services: Services, replica: str) -> None:
    """Give the money back, and tell the threads that their commands are lost."""
    await services.brain.drop_holds(replica)
    await services.background.lose(replica)
