"""How many tokens something is likely to be, for every model alike.

Text is counted by the kinds of its bytes: one pass that sorts them, a few that count, and weights that were fitted to
the tokenizers of five model families. It is off by a few per cent for ordinary prose, code, JSON and Chinese; what a
provider itself has counted is better, and is preferred wherever it is known.
"""

import base64
import binascii
import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Final

from aster.contracts.blocks import (
    AudioBlock,
    Base64Source,
    ContentBlock,
    DocumentBlock,
    ImageBlock,
    Source,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    VideoBlock,
)
from aster.contracts.llm import ModelRequest
from aster.contracts.messages import Message
from aster.contracts.model import encode
from aster.contracts.tools import ToolDef
from aster.herald.image_size import image_size

MESSAGE_TOKENS: Final = 4
"""What the frame of a message costs: whose it is, where it ends."""
CALL_TOKENS: Final = 12
"""What a call or a result costs beside what it says: its id, its name, its frame."""
TOOL_TOKENS: Final = 8
IMAGE_TOKENS: Final = 1_600
"""An image whose size is not known; also the most that one costs."""
PIXELS_PER_TOKEN: Final = 750
DOCUMENT_TOKENS: Final = 20_000
PAGE_TOKENS: Final = 2_000
"""A page of a PDF: its text and its picture."""


def _kind(byte: int) -> int:
    """Letters, digits and marks by themselves; of a character beyond ASCII, its first byte says which script."""
    if byte < 0x80:
        char = chr(byte)
        if char.isalpha():
            return ord("a" if char.islower() else "A")
        return ord("0" if char.isdigit() else "n" if char in "\r\n" else " " if char == " " else "p")
    for script, first in (("m", 0xF0), ("h", 0xEA), ("c", 0xE3), ("e", 0xE0), ("v", 0xC8), ("u", 0xC0)):
        if byte >= first:
            return ord(script)
    return ord("x")


_KINDS: Final = bytes(_kind(byte) for byte in range(256))
_WEIGHTS: Final = (
    (b"a", 0.214, ()),
    (b"A", 0.985, ((b"AA", -1.621), (b"pA", 1.302), (b"aA", 0.475))),
    (b"0", 1.442, ((b"00", -1.765), (b" 0", 2.03))),
    (b"p", 0.386, ((b"pp", -0.622), (b"pa", 0.199), (b" p", 1.109))),
    (b" ", 0.097, ((b"  ", -0.114),)),
    (b"n", 0.2, ((b"nn", -0.2),)),
)
"""What each kind of byte adds, and what it adds beside a neighbour: a word costs by its length, a run of marks or of
digits less than its parts. No text can come to less than nothing: what a pair takes off, its two bytes have brought."""
_BEYOND: Final = ((b"u", 1.709), (b"v", 0.431), (b"e", 0.9), (b"c", 0.874), (b"h", 0.824), (b"m", 2.0))
"""Accented Latin; Greek, Cyrillic and alike; Indic; Chinese and Japanese; Korean; pictures."""


def text_tokens(text: str) -> int:
    """The tokens of a text."""
    count = text.encode("utf-8", "replace").translate(_KINDS).count
    tokens = 0.0
    for kind, weight, neighbours in _WEIGHTS:
        if found := count(kind):
            tokens += found * weight
            for pair, more in neighbours:
                tokens += count(pair) * more
    if not text.isascii():
        for kind, weight in _BEYOND:
            tokens += count(kind) * weight
    return max(1, round(tokens)) if text else 0


def message_tokens(message: Message) -> int:
    """The tokens of a message with its frame."""
    return MESSAGE_TOKENS + content_tokens(message.content)


def content_tokens(blocks: Iterable[ContentBlock]) -> int:
    """The tokens of the blocks of a message."""
    return sum(_block(block) for block in blocks)


def frame_tokens(request: ModelRequest) -> int:
    """The tokens of what stands before the messages: the instructions and the tools."""
    schema = text_tokens(encode(request.output_schema).decode()) if request.output_schema else 0
    return _instructions(request.system) + tools_tokens(request.tools) + schema


_instructions: Final[Callable[[str], int]] = lru_cache(maxsize=256)(text_tokens)


def tools_tokens(tools: tuple[ToolDef, ...]) -> int:
    """The tokens of the tools on offer, with their schemas."""
    known = _offered.get(id(tools))
    if known is None or known[0] is not tools:
        if len(_offered) >= _OFFERS:
            _offered.clear()
        known = _offered[id(tools)] = tools, sum(_tool(tool) for tool in tools)
    return known[1]


_OFFERS: Final = 64
_offered: dict[int, tuple[tuple[ToolDef, ...], int]] = {}


def _tool(tool: ToolDef) -> int:
    said = text_tokens(tool.name) + text_tokens(tool.description) + text_tokens(encode(tool.input_schema).decode())
    return said + TOOL_TOKENS


def _block(block: ContentBlock) -> int:
    match block:
        case TextBlock():
            return text_tokens(block.text)
        case ThinkingBlock():
            return text_tokens(block.text) + len(block.encrypted or "") // 4
        case ToolUseBlock():
            return text_tokens(block.name) + text_tokens(encode(block.input).decode()) + CALL_TOKENS
        case ToolResultBlock():
            return content_tokens(block.content) + CALL_TOKENS
        case ImageBlock():
            return _image(block.source)
        case DocumentBlock():
            return _document(block.source)
        case AudioBlock() | VideoBlock():
            return _recording(block.source)


def _image(source: Source) -> int:
    size = image_size(_decoded(source, _HEAD)) if isinstance(source, Base64Source) else None
    return IMAGE_TOKENS if size is None else min(IMAGE_TOKENS, -(-size[0] * size[1] // PIXELS_PER_TOKEN))


def _document(source: Source) -> int:
    if not isinstance(source, Base64Source):
        return DOCUMENT_TOKENS
    data = _decoded(source)
    if source.media_type.startswith("text/"):
        return text_tokens(data.decode("utf-8", "replace"))
    pages = len(_PAGES.findall(data)) or -(-len(data) // _PAGE_BYTES)
    return pages * PAGE_TOKENS


def _recording(source: Source) -> int:
    """Sound and film are counted by the second; how many bytes that is depends on the coding, so this is rough."""
    return len(source.data) * 3 // 4 // _RECORDED_BYTES if isinstance(source, Base64Source) else DOCUMENT_TOKENS


_HEAD: Final = 65_536
_RECORDED_BYTES: Final = 500
_PAGE_BYTES: Final = 30_000
_PAGES: Final = re.compile(rb"/Type\s{0,9}/Page\b")


def _decoded(source: Base64Source, upto: int | None = None) -> bytes:
    """The bytes, or the first of them; none where it is not what it says."""
    try:
        return base64.b64decode(source.data if upto is None else source.data[: upto * 4 // 3 // 4 * 4])
    except (binascii.Error, ValueError):
        return b""
