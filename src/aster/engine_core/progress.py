"""What a tool says while it runs, shown as it comes and cleaned of secrets that are cut by a piece's end."""

from dataclasses import dataclass, field

from aster.contracts.events import ToolProgress
from aster.contracts.tools import ToolCall
from aster.engine_core.turn import Turn
from aster.infra.secret_stream import SecretStream


@dataclass(slots=True)
class CallProgress:
    """Called with pieces of a call's output; `finish` shows what was held back."""

    turn: Turn
    call: ToolCall
    _streams: dict[str, SecretStream] = field(default_factory=dict[str, SecretStream])

    def __call__(self, text: str, stream: str) -> None:
        sieve = self._streams.get(stream)
        if sieve is None:
            sieve = self._streams[stream] = SecretStream(self.turn.secrets, "tool", shapes=True)
        self._show(sieve.feed(text), stream)

    def finish(self) -> None:
        for stream, sieve in self._streams.items():
            self._show(sieve.finish(), stream)

    def _show(self, text: str, stream: str) -> None:
        if text:
            self.turn.emit(ToolProgress(tool=self.call.name, tool_call_id=self.call.id, text=text, stream=stream))
