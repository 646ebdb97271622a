"""Who makes a call of a connected server, as the server meets it: a turn that shows progress and pays for models."""

from dataclasses import dataclass

from aster.asset_directory.asking import Sampled, Sampling
from aster.contracts.blocks import text_of
from aster.contracts.llm import ModelRequest
from aster.utility_directory.tool import ToolContext


@dataclass(frozen=True, slots=True)
class TurnCaller:
    context: ToolContext

    @property
    def task(self) -> str:
        return self.context.task_id

    def progress(self, text: str) -> None:
        self.context.progress(text, "progress")

    async def sample(self, wanted: Sampling) -> Sampled:
        """The server's own words and nothing of the conversation: no history, no memory, no tools."""
        request = ModelRequest(
            model="",
            system=wanted.system,
            messages=wanted.messages,
            max_tokens=wanted.max_tokens,
            temperature=wanted.temperature,
            stop_sequences=wanted.stop,
            role="worker",
        )
        answer = await self.context.sample(request)
        stops = {"max_tokens": "maxTokens", "stop_sequence": "stopSequence"}
        return Sampled(
            text=text_of(answer.blocks), model=answer.model, stop_reason=stops.get(answer.stop_reason, "endTurn")
        )
