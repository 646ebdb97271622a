"""What can be asked for on the command line."""

import pytest
from benchmarks.__main__ import BENCHMARKS, ON_REQUEST, chosen, options


def test_all_are_run_but_those_that_have_to_be_asked_for() -> None:
    assert set(chosen(None)) == BENCHMARKS.keys() - ON_REQUEST
    assert chosen("suspended") == ["suspended"]


def test_the_order_is_that_of_the_table() -> None:
    assert chosen("stream, ttft") == ["ttft", "stream"]


def test_a_name_that_does_not_exist_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        options(["--only", "ttft,speed"])
    assert "no benchmark speed" in capsys.readouterr().err


def test_at_least_one_round() -> None:
    assert options(["--quick", "--rounds", "2"]).rounds == 2
    with pytest.raises(SystemExit):
        options(["--rounds", "0"])
