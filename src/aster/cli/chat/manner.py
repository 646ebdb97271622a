"""How the messages of a chat are run: who answers them, how carefully, with which model. None is the engine's own."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass

from aster.client import AsterClient, ThreadEvent
from aster.client.records import OnBusy
from aster.contracts.permissions import PermissionMode


@dataclass(slots=True)
class Manner:
    mode: PermissionMode | None = None
    agent: str | None = None
    model: str | None = None

    def execute(
        self,
        client: AsterClient,
        message: str,
        task_id: str,
        *,
        on_busy: OnBusy = "reject",
        edits: str | None = None,
        retries: str | None = None,
    ) -> AsyncGenerator[ThreadEvent]:
        """Post a message in this manner; one that steers joins the turn that runs and changes nothing about it."""
        steers = on_busy == "steer"
        return client.execute(
            message,
            task_id,
            on_busy=on_busy,
            edit_message_id=edits,
            retry_message_id=retries,
            permission_mode=None if steers else self.mode,
            agent=None if steers else self.agent,
            model=None if steers else self.model,
        )
