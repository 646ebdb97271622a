"""The stream of a reply with its text calls read: out come the same events as from a model with native tools.

It stands behind a protocol's decoder and reads what that made of the wire. Where tools were offered as text, every
call in the text becomes a call. Where they were offered natively, text in unmistakable framing becomes one only if
no native call came, and the arguments of native calls are freed of framing that leaked into them.
"""

from aster.contracts.blocks import AssistantBlock, BlockType, TextBlock, ThinkingBlock, ToolUseBlock
from aster.contracts.llm import (
    BlockFinished,
    BlockStarted,
    CallFinished,
    ModelRequest,
    StopReason,
    StreamEvent,
    TextPart,
    ThinkingPart,
)
from aster.herald.text_tools.dialects.base import Context
from aster.herald.text_tools.formats import AUTO, LEAKED, index_of
from aster.herald.text_tools.hints import hint, strikes_in
from aster.herald.text_tools.items import Broken, Call, Item, Said, Thought
from aster.herald.text_tools.leaks import recovered
from aster.herald.text_tools.scanner import MOST_BLOCKS, Scanner
from aster.herald.text_tools.toolbox import Toolbox
from aster.infra.ids import new_id

UNNAMED = "tool_call"
"""What a call is called whose name could not be read."""

LONGEST_KEPT = 2000


class TextToolDecoder:
    """Reads one answer to a request that offered tools."""

    def __init__(self, request: ModelRequest, tools: Toolbox, *, native: bool) -> None:
        self._native = native
        self._tools = tools
        self._context = Context(self._tools, bare_names=True)
        self._index = index_of(LEAKED if native else AUTO)
        self._left = MOST_BLOCKS
        self._scanner = Scanner(self._index, self._context)
        self._strikes = strikes_in(request.messages)
        self._model = request.model
        self._indices: dict[int, int] = {}
        self._blocks = 0
        self._open: BlockType | None = None
        self._pieces: list[str] = []
        self._plain = True
        self._called = False
        self._leaked: list[Call | Broken] = []

    def read(self, events: list[StreamEvent]) -> list[StreamEvent]:
        """What the next events of the answer come to."""
        out: list[StreamEvent] = []
        for event in _joined(events) if len(events) > 1 else events:
            if isinstance(event, TextPart):
                self._text(event, out)
                continue
            match event:
                case BlockStarted(block_type="text"):
                    pass
                case BlockStarted():
                    self._close(out)
                    self._indices[event.index] = self._blocks
                    out.append(_moved(event, self._blocks))
                    self._blocks += 1
                    self._called = self._called or event.block_type == "tool_use"
                case ThinkingPart():
                    out.append(_moved(event, self._indices[event.index]))
                case BlockFinished(block=block):
                    self._finished(event.index, block, out)
                case CallFinished():
                    out.append(self._end(event, out))
                case _:
                    out.append(event)
        return out

    def _text(self, part: TextPart, out: list[StreamEvent]) -> None:
        if self._open != "text" or not self._scanner.passes(part.text):
            self._items(self._scanner.feed(part.text), out)
            return
        self._pieces.append(part.text)
        index = self._blocks - 1
        out.append(part if part.index == index else TextPart(index=index, text=part.text))

    def _finished(self, index: int, block: AssistantBlock, out: list[StreamEvent]) -> None:
        if isinstance(block, TextBlock):
            self._items(self._scanner.finish(), out)
            self._scanner = Scanner(self._index, self._context, self._left)
            self._close(out, block if self._plain else None)
            self._plain = True
            return
        calls: list[Call] = []
        if isinstance(block, ToolUseBlock) and self._native and block.invalid is None:
            block, calls = recovered(block, self._tools)
        out.append(BlockFinished(index=self._indices.pop(index), block=block))
        for call in calls:
            self._call(call, out)

    def _items(self, items: list[Item], out: list[StreamEvent]) -> None:
        for item in items:
            match item:
                case Said(text):
                    self._part("text", out)
                    self._pieces.append(text)
                    out.append(TextPart(index=self._blocks - 1, text=text))
                case Thought(text):
                    self._plain = False
                    self._part("thinking", out)
                    self._pieces.append(text)
                    out.append(ThinkingPart(index=self._blocks - 1, text=text))
                case Call() | Broken():
                    self._plain = False
                    self._left -= 1
                    if not self._native:
                        self._call(item, out)
                    elif isinstance(item, Broken) and not self._surely_meant(item):
                        self._items([Said(item.raw)], out)
                    else:
                        self._leaked.append(item)

    def _surely_meant(self, item: Broken) -> bool:
        """Whether a broken block of a model with native tools was a call: it names an offered tool."""
        offered = item.name is not None and self._tools.resolve(item.name) is not None
        return offered and item.reason in ("malformed", "truncated")

    def _part(self, kind: BlockType, out: list[StreamEvent]) -> None:
        """Have a block of this kind open."""
        if self._open != kind:
            self._close(out)
            self._open = kind
            out.append(BlockStarted(index=self._blocks, block_type=kind))
            self._blocks += 1

    def _close(self, out: list[StreamEvent], whole: TextBlock | None = None) -> None:
        if self._open is None:
            return
        text = "".join(self._pieces)
        block: AssistantBlock = TextBlock(text=text)
        if self._open == "thinking":
            block = ThinkingBlock(text=text, model=self._model)
        elif whole is not None and whole.text == text:
            block = whole
        out.append(BlockFinished(index=self._blocks - 1, block=block))
        self._open, self._pieces = None, []

    def _call(self, item: Call | Broken, out: list[StreamEvent]) -> None:
        self._close(out)
        self._called = True
        block = self._block(item)
        out.append(
            BlockStarted(index=self._blocks, block_type="tool_use", tool_name=block.name, tool_call_id=block.id)
        )
        out.append(BlockFinished(index=self._blocks, block=block))
        self._blocks += 1

    def _block(self, item: Call | Broken) -> ToolUseBlock:
        call_id = new_id("call")
        if isinstance(item, Broken):
            if item.reason != "unknown_tool" or item.partial is None:
                said = hint(item.reason, self._strikes, self._native)
                self._strikes += 1
                kept = item.raw[:LONGEST_KEPT]
                return ToolUseBlock(id=call_id, name=item.name or UNNAMED, input={}, invalid=kept, hint=said)
            item = item.partial
        self._strikes = 0
        return ToolUseBlock(id=call_id, name=item.name, input=item.arguments)

    def _end(self, event: CallFinished, out: list[StreamEvent]) -> CallFinished:
        """The last event; what leaked into the text counts only if no native call came."""
        if not self._called:
            for item in self._leaked:
                self._call(item, out)
        stop = event.stop_reason
        if self._called and stop in (StopReason.END_TURN, StopReason.STOP_SEQUENCE):
            stop = StopReason.TOOL_USE
        return CallFinished(stop_reason=stop, usage=event.usage, model=event.model, provider_id=event.provider_id)


def _joined(events: list[StreamEvent]) -> list[StreamEvent]:
    """The same events, with neighbouring pieces of one text as one: what came together is looked at once."""
    out: list[StreamEvent] = []
    texts: list[str] = []
    index = -1
    for event in events:
        if isinstance(event, TextPart):
            if texts and event.index != index:
                out.append(TextPart(index=index, text="".join(texts)))
                texts.clear()
            index = event.index
            texts.append(event.text)
            continue
        if texts:
            out.append(TextPart(index=index, text="".join(texts)))
            texts.clear()
        out.append(event)
    if texts:
        out.append(TextPart(index=index, text="".join(texts)))
    return out


def _moved(event: BlockStarted | ThinkingPart, index: int) -> StreamEvent:
    if event.index == index:
        return event
    if isinstance(event, ThinkingPart):
        return ThinkingPart(index=index, text=event.text)
    return BlockStarted(
        index=index, block_type=event.block_type, tool_name=event.tool_name, tool_call_id=event.tool_call_id
    )
