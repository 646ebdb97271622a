"""Micro-compaction: what the model has read is named, what it has not read is not touched."""

from aster.engine_core.compaction.micro import KEPT, micro
from tests.engine_core.compaction.made import calls, kept, model, person, results, shown, step, whole

LONG = "a result of some length, " * 20


def test_only_the_latest_three_that_were_read_stay() -> None:
    messages = kept(
        [person("go"), *(item for at in range(6) for item in step(f"c{at}", f"{at} {LONG}")), model("so")]
    )
    short = micro(messages)
    texts = [shown(message) for message in short if message.role == "user"][1:]
    assert [text.startswith("[Earlier result of bash") for text in texts] == [True] * 3 + [False] * KEPT
    assert "artifact:transcript from line" in texts[0]
    assert whole(short)


def test_new_results_are_untouched_until_the_model_has_answered() -> None:
    batch = [calls(*"abcdef"), results(*((name, LONG) for name in "abcdef"))]
    messages = kept([person("go"), *batch])
    assert micro(messages) == messages
    answered = micro(kept([person("go"), *batch, model("I see"), person("and?")]))
    assert shown(answered[2]).count("Earlier result") == len("abcdef") - KEPT


def test_short_results_are_not_worth_it() -> None:
    messages = kept([person("go"), *(item for at in range(6) for item in step(f"c{at}", "ok")), model("so")])
    assert micro(messages) == messages
