"""Lines: a conversation is known again by what was said in it, and becomes messages that every provider takes."""

from hypothesis import given
from hypothesis import strategies as st

from aster.contracts.blocks import Base64Source, ImageBlock, TextBlock, ToolResultBlock, ToolUseBlock
from aster.contracts.turn import TurnState
from aster.engine_core.fold import apply
from aster.engine_core.history import Place
from aster.engine_core.imports import imported
from aster.server.doors.lines import Line, brought, fingerprints, said


def words(text: str) -> tuple[TextBlock, ...]:
    return (TextBlock(text=text),) if text else ()


def call(name: str) -> ToolUseBlock:
    return ToolUseBlock(id=name, name="f", input={})


IDS = st.sampled_from("abc")
LINES = st.lists(
    st.one_of(
        st.builds(lambda text: Line("user", words(text)), st.sampled_from(["hi", "ok", "more"])),
        st.builds(
            lambda text, ids: said(text, map(call, ids)), st.sampled_from(["", "yes"]), st.lists(IDS, unique=True)
        ),
        st.builds(lambda name: Line("tool", words("result"), call_id=name), IDS),
    ),
    max_size=12,
)


def test_what_clients_change_on_the_way_changes_nothing() -> None:
    sent = [Line("user", words("a\r\nb ")), said("yes", [call("1"), call("2")])]
    back = [Line("user", words(" a\nb")), said("yes \n", [call("2"), call("1")])]
    assert fingerprints(sent, "") == fingerprints(back, "")


def test_what_was_said_tells_conversations_apart() -> None:
    picture = ImageBlock(source=Base64Source(media_type="image/png", data="AAAA"))
    different = [
        [Line("user", words("a"))],
        [Line("user", words("b"))],
        [said("a")],
        [said("a", [call("1")])],
        [Line("user", (*words("a"), picture))],
        [Line("tool", words("a"), call_id="1")],
        [Line("user", words("a")), Line("user", words("a"))],
    ]
    assert len({fingerprints(lines, "")[-1] for lines in different}) == len(different)
    assert fingerprints(different[0], "ada") != fingerprints(different[0], "bob")


@given(LINES)
def test_every_call_has_its_one_result_and_no_result_is_alone(lines: list[Line]) -> None:
    messages = brought(lines).messages
    for at, message in enumerate(messages):
        calls = [block.id for block in message.content if isinstance(block, ToolUseBlock)]
        results = [block.tool_use_id for block in message.content if isinstance(block, ToolResultBlock)]
        if calls:
            following = messages[at + 1].content
            assert [b.tool_use_id for b in following if isinstance(b, ToolResultBlock)] == calls
        if results:
            before = messages[at - 1].content
            assert [block.id for block in before if isinstance(block, ToolUseBlock)] == results


@given(LINES)
def test_brought_lines_leave_the_same_messages_on_a_thread(lines: list[Line]) -> None:
    """So a place in the middle of them is the place it is said to be."""
    found = brought(lines)
    turn = imported(found.messages, Place(None), "turn-x")
    assert [(m.role, m.content) for m in turn.messages] == [(m.role, m.content) for m in found.messages]
    state = TurnState(turn_id="turn-x")
    for event in turn.events:
        apply(state, event)
    assert state.messages == turn.messages
    assert state.status.ended
    assert state.cost_usd == 0.0
    for line, end in zip(lines, found.ends, strict=True):
        if end:
            assert found.messages[end - 1].role == line.role
