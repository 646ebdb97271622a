"""A call in two lines."""

from aster.cli.screen.cards import call_line, result_line, whole
from aster.client.transcript import ToolCard


def card(**fields: object) -> ToolCard:
    made = ToolCard("turn", 1, 1, 0, "bash", "c1", {"command": "ls -la\nrm x"})
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def test_the_telling_argument_is_shown() -> None:
    assert call_line(card()) == "bash  ls -la rm x"
    assert call_line(card(input={"a": [1]})) == 'bash  {"a": [1]}'
    assert call_line(card(input={})) == "bash"
    assert len(call_line(card(input={"command": "x" * 500}), 60)) <= 60


def test_the_result_is_its_first_line_and_a_count() -> None:
    assert result_line(card(status="running")) == "running"
    assert result_line(card(status="done", output="a\n\nb\nc\n")) == "a (+2 lines)"
    assert result_line(card(status="done", output="")) == "no output"
    assert result_line(card(status="failed", error="timeout", output="too slow")) == "timeout: too slow"


def test_the_whole_card_can_be_read() -> None:
    shown = whole(card(status="done", output="a\x1b[2Jb", duration_ms=7))
    assert shown.startswith("bash (done, 7 ms)\n{")
    assert shown.endswith("a␛[2Jb")


def test_names_stay_on_their_line() -> None:
    """A model may call a tool whatever it likes, also something that looks like lines of the screen."""
    evil = "x\n● bash  echo harmless\x1b[2J"
    assert "\n" not in call_line(card(tool=evil))
    assert "\x1b" not in call_line(card(tool=evil))
    assert len(call_line(card(tool="x" * 5000))) < 300
    assert result_line(card(status="failed", error=evil, output="no")).count("\n") == 0
