"""Which sentences are hedges, and which only look like some."""

import time

import pytest

from aster.engine_core.hedges import READ_CHARS, SENTENCE_CHARS, hedges

UNKNOWN = [
    "I'm not sure whether the port is free.",
    "I am not entirely certain that this covers all cases.",
    "I don't know which database you use.",
    "I could not verify the last figure.",
    "I was unable to reproduce the failure.",
    "I haven't tested this on Windows.",
    "It is unclear whether the key has expired.",
    "This may be outdated.",
    "Ich bin mir nicht ganz sicher, ob das stimmt.",
    "Je ne suis pas sûr que ce soit juste.",
    "No estoy seguro de que sea correcto.",
]
ASSUMPTION = [
    "I'm assuming the service runs on port 80.",
    "I assumed you meant the newest release.",
    "I'll assume that Python 3.11 is there.",
    "My assumption is that the file is UTF-8.",
    "Assuming that the clock is right, it fires at noon.",
    "Ich nehme an, dass der Dienst läuft.",
]
NEITHER = [
    "The port is free.",
    "Are you sure?",
    "If I'm not sure, I ask.",
    "You are not sure, you said.",
    "I know which database you use.",
    "I don't know.",
    "I tested it and it works.",
    "Do you know whether I'm not sure whether it works?",
    'He wrote "I\'m not sure whether it works" in the ticket.',
    "```\n# I'm not sure whether this works.\n```",
    "```python\nprint('I am not sure')  # I'm assuming it works.",
    "Set `I'm not sure whether` in the file.",
    "> I don't know which database you use.",
    "I'm not sure whether it exists. Let me check.",
    "I don't know which one it is. I'll look at the list.",
    "It is unclear why it failed. Actually, the log says it: no space.",
    "The assumptions of the theorem hold.",
    "",
]


@pytest.mark.parametrize("sentence", UNKNOWN)
def test_what_is_not_known(sentence: str) -> None:
    (found,) = hedges(f"All done. {sentence} The rest is fine.")
    assert found == ("unknown", sentence)


@pytest.mark.parametrize("sentence", ASSUMPTION)
def test_what_is_taken_for_granted(sentence: str) -> None:
    (found,) = hedges(f"All done.\n\n- {sentence}\n- The rest is fine.")
    assert found == ("assumption", sentence)


@pytest.mark.parametrize("text", NEITHER)
def test_what_only_looks_like_it(text: str) -> None:
    assert hedges(text) == []


def test_each_sentence_once_and_in_order() -> None:
    text = "I'm not sure whether a. I assumed b. I'm not sure whether a. I could not check c."
    assert [found.item for found in hedges(text)] == ["unknown", "assumption", "unknown"]


def test_long_texts_are_cut() -> None:
    (found,) = hedges("I'm not sure whether " + "it is " * 200)
    assert len(found.sentence) == SENTENCE_CHARS
    assert hedges("word " * READ_CHARS + "I'm not sure whether it is.") == []


def test_hostile_texts_take_no_time() -> None:
    for text in (
        '"' * 100_000,
        "`" * 100_000,
        "“" * 100_000,
        "i not " * 20_000,
        "i am not " * 20_000,
        "\n" * 100_000,
    ):
        began = time.process_time()
        hedges(text + " not ")
        assert time.process_time() - began < 0.3, text[:10]
