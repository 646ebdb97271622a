"""What stands where something was refused: the same whoever computes it, and nothing else moves."""

from aster.contracts.blocks import (
    AudioBlock,
    Base64Source,
    DocumentBlock,
    ImageBlock,
    TextBlock,
    ToolResultBlock,
    UrlSource,
    VideoBlock,
)
from aster.contracts.events import MediaNotice
from aster.contracts.messages import Message
from aster.contracts.model import encode
from aster.contracts.turn import TurnState
from aster.engine_core.fold import apply, restore
from aster.engine_core.stripped_media import cleared, files_in, withheld
from aster.infra.ids import new_id

PNG = ImageBlock(source=Base64Source(media_type="image/png", data="AAAA"))
PAPER = DocumentBlock(source=UrlSource(url="https://example.org/a.pdf"), title="a")
SOUND = AudioBlock(source=UrlSource(url="https://example.org/a.wav"))
CLIP = VideoBlock(source=UrlSource(url="https://example.org/a.mp4"))
HELLO = TextBlock(text="hello")


def state() -> TurnState:
    result = ToolResultBlock(tool_use_id="c1", content=(HELLO, PNG))
    return TurnState(
        turn_id=new_id("turn"),
        messages=[
            Message(role="user", content=(PNG, PAPER, HELLO), id="m1"),
            Message(role="assistant", content=(HELLO,), id="m2"),
            Message(role="user", content=(result, ToolResultBlock(tool_use_id="c2", content=(PNG,)))),
        ],
    )


def stripped(**place: object) -> MediaNotice:
    return MediaNotice(action="stripped", kind="image", reason="r", message="m", **place)  # type: ignore[arg-type]


def test_one_block_of_a_message_is_replaced() -> None:
    turn = state()
    apply(turn, stripped(message_id="m1", block_index=0))
    image, paper, hello = turn.messages[0].content
    assert isinstance(image, TextBlock)
    assert image.text.startswith("[An image was attached here")
    assert (paper, hello) == (PAPER, HELLO)
    assert turn.messages[1:] == state().messages[1:]
    assert restore(encode(turn)).messages == turn.messages


def test_one_block_of_a_result_is_replaced() -> None:
    turn = state()
    apply(turn, stripped(tool_call_id="c1", block_index=1))
    first, second = turn.messages[2].content
    assert isinstance(first, ToolResultBlock)
    assert isinstance(second, ToolResultBlock)
    assert [type(part) for part in first.content] == [TextBlock, TextBlock]
    assert second.content == (PNG,)
    assert turn.messages[:2] == state().messages[:2]


def test_what_a_compaction_moved_into_the_history_is_replaced_there_also_after_a_restart() -> None:
    turn = state()
    apply(turn, stripped(message_id="m1", block_index=0))
    apply(turn, stripped(tool_call_id="c1", block_index=1))
    assert cleared(restore(encode(turn)), state().messages) == turn.messages


def test_everything_is_replaced_when_no_place_is_named() -> None:
    turn = state()
    apply(turn, stripped())
    assert turn.media_withheld
    assert [block for message in turn.messages for block in files_in(message.content)] == []


def test_a_place_that_is_not_there_changes_nothing() -> None:
    turn = state()
    for notice in (
        stripped(message_id="m9"),
        stripped(message_id="m1", block_index=9),
        stripped(tool_call_id="c9"),
    ):
        apply(turn, notice)
    assert turn.messages == state().messages


def test_what_is_only_told_leaves_the_messages_alone() -> None:
    turn = state()
    apply(turn, MediaNotice(action="unsupported", kind="image", reason="r", message="m", message_id="m1"))
    assert turn.media_noted
    assert turn.messages == state().messages


def test_every_kind_has_its_words() -> None:
    (message,) = withheld([Message(role="user", content=(PNG, PAPER, SOUND, CLIP, HELLO))])
    words = [block.text for block in message.content if isinstance(block, TextBlock)]
    assert [text.split(" was")[0] for text in words[:4]] == [
        "[An image",
        "[A document",
        "[An audio recording",
        "[A video",
    ]
    plain = Message(role="user", content=(HELLO,))
    assert next(iter(withheld([plain]))) is plain
