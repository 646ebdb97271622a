from datetime import UTC, datetime

import pytest

from aster.memory.retrieval.times import timed
from aster.memory.retrieval.tongues import english

NOW = datetime(2026, 3, 18, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("was habe ich vor zwei wochen gesagt?", "2 week ago"),
        ("was war in den letzten 3 tagen?", "last 3 day"),
        ("was war letzten dienstag?", "last tuesday"),
        ("wo war ich im märz 2025", "in march 2025"),
        ("am 3. maerz 2025", "3 march 2025"),
        ("worum ging es gestern abend?", "yesterday"),
        ("und vorgestern?", "day before yesterday"),
        ("qu'avons-nous dit hier ?", "yesterday"),
        ("c'était avant-hier", "day before yesterday"),
        ("il y a trois mois", "3 month ago"),
        ("la semaine dernière", "last week"),
        ("le 1er mai 2025", "1 may 2025"),
        ("en aout", "in august"),
        ("hace dos semanas", "2 week ago"),
        ("en los últimos 5 días", "last 5 day"),
        ("el martes pasado", "last tuesday"),
        ("el 3 de marzo de 2025", "3 march 2025"),
        ("qué dije anteayer", "day before yesterday"),
    ],
)
def test_a_time_in_another_language_is_said_in_english(text: str, said: str) -> None:
    assert said in english(text)
    assert timed(text, NOW)[0] is not None


@pytest.mark.parametrize(
    "text",
    [
        "was ist hier passiert",
        "the mars 2020 mission",
        "where did we sail in the lake district",
        "el coche es rojo",
        "nous sommes en vacances",
        "i am in the march",
        "",
    ],
)
def test_other_words_stay_as_they_are(text: str) -> None:
    assert english(text) == text


def test_a_span_is_that_of_the_english_words() -> None:
    assert timed("Was war vor drei Wochen?", NOW)[0] == timed("What was 3 weeks ago?", NOW)[0]
    assert timed("le 4 juillet 2024", NOW)[0] == timed("on July 4, 2024", NOW)[0]
    assert timed("el año pasado", NOW)[0] == timed("last year", NOW)[0]
