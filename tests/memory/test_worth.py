"""What of a turn is worth keeping: what tells something about somebody, in parts; not greetings, questions or logs."""

import time

import pytest

from aster.memory.worth import ENDING, GIST, MOST_PASSAGES, gist, passages, prose, said_words


@pytest.mark.parametrize(
    "text",
    [
        "My daughter Paulina plays the violoncello.",
        "Which instrument does my daughter Paulina play?",
        "Book a table at Luigi's for Friday.",
        "Hi! We are moving to Trier in March.",
        "Meine Tochter spielt Cello im Orchester.",
        "私の娘はチェロを弾きます。",
        "The server is called heron. Why is it slow?",
    ],
)
def test_what_tells_something_is_kept_as_it_was_said(text: str) -> None:
    assert passages(text) == [text]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hi",
        "Good morning!",
        "ok thanks, go on",
        "What is the boiling point of tungsten?",
        "Wie hoch ist der Eiffelturm?",
        "[[id=ab12 text=50 rate=0 delay=0]]",
        "hello there [[n=50]]",
        '{"level": "info", "ts": 1794751542, "n": 3}',
        "2026-11-15T12:00:00Z GET /health 200 3ms\n2026-11-15T12:00:01Z GET /health 200 2ms",
        "```python\nprint('hello world, this is code')\n```",
        "my password for the bank is bluebird77",
    ],
)
def test_what_tells_nothing_is_not(text: str) -> None:
    assert passages(text) == []


def test_code_is_left_out_and_the_words_around_it_stay() -> None:
    text = "The parser of our shop breaks on this:\n```\nx = {1:2}\n```\nIt worked in version nine."
    (kept,) = passages(text)
    assert "x = {1:2}" not in kept
    assert "version nine" in kept


def test_a_long_message_is_kept_in_passages_and_a_secret_among_them_is_not() -> None:
    said = " ".join(f"Our guest number {n} likes the blue room with the view of the lake." for n in range(60))
    text = f"{said}\n\nmy password for the bank is bluebird77\n\n{'And the harbour is closed in winter. ' * 40}"
    kept = passages(text)
    assert 2 < len(kept) <= MOST_PASSAGES
    assert all(len(part) <= 1200 for part in kept)
    assert "bluebird77" not in " ".join(kept)
    assert len(passages(said * 20)) == MOST_PASSAGES


@pytest.mark.parametrize(
    "answer", ["", "Done.", "I see what you mean.", "How lovely!", "w000001 w000002 w000003 " * 9]
)
def test_an_answer_that_only_says_it_was_heard_is_not_kept(answer: str) -> None:
    assert gist(answer) == ""


def test_of_a_long_answer_its_beginning_and_its_end_are_kept() -> None:
    answer = f"The ferry leaves at nine. {'It passes many small islands. ' * 100} Bring a warm coat along."
    kept = gist(answer)
    assert kept.startswith("The ferry leaves at nine.")
    assert kept.endswith("Bring a warm coat along.")
    assert len(kept) <= GIST + ENDING + 3
    assert gist("The ferry to Porto leaves at nine.") == "The ferry to Porto leaves at nine."


def test_a_message_without_words_asks_memory_nothing() -> None:
    assert said_words("Das Cello?") == {"das", "cello"}
    assert said_words("チェロ")
    assert not said_words("[[id=1 text=50]] 12:30")


def test_hostile_text_is_judged_in_no_time() -> None:
    began = time.process_time()
    for text in (
        "(" * 100_000,
        "?" * 100_000,
        "```" * 30_000,
        "a'" * 50_000,
        "a-" * 50_000,
        "\n" * 100_000,
        "a " * 50_000,
    ):
        passages(text)
        gist(text)
        prose(text)
    assert time.process_time() - began < 2
