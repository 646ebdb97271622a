from datetime import UTC, datetime

import pytest

from aster.memory.retrieval.times import timed

NOW = datetime(2026, 3, 18, 15, 30, tzinfo=UTC)
"""A Wednesday."""


def span(text: str) -> tuple[str, str] | None:
    window, _ = timed(text, NOW)
    if window is None:
        return None
    start, end = (datetime.fromtimestamp(moment / 1000, UTC) for moment in (window.start, window.end))
    return f"{start:%Y-%m-%d}", f"{end:%Y-%m-%d}"


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("what happened today", "2026-03-18", "2026-03-19"),
        ("Yesterday?", "2026-03-17", "2026-03-18"),
        ("the day before yesterday", "2026-03-16", "2026-03-17"),
        ("what did I say last Tuesday", "2026-03-17", "2026-03-18"),
        ("last Wednesday", "2026-03-11", "2026-03-12"),
        ("on Monday", "2026-03-16", "2026-03-17"),
        ("two weeks ago", "2026-02-28", "2026-03-08"),
        ("3 days ago", "2026-03-15", "2026-03-16"),
        ("last week", "2026-03-09", "2026-03-16"),
        ("last weekend", "2026-03-14", "2026-03-16"),
        ("last month", "2026-02-01", "2026-03-01"),
        ("this year", "2026-01-01", "2027-01-01"),
        ("in the past 10 days", "2026-03-08", "2026-03-19"),
        ("in March", "2026-03-01", "2026-04-01"),
        ("in May", "2025-05-01", "2025-06-01"),
        ("In May 2023, what", "2023-05-01", "2023-06-01"),
        ("7 July, 2023", "2023-07-07", "2023-07-08"),
        ("on July 7th 2023", "2023-07-07", "2023-07-08"),
        ("on 3 December", "2025-12-03", "2025-12-04"),
        ("2024-02-29", "2024-02-29", "2024-03-01"),
        ("2024-02-29T10:20:30Z", "2024-02-29", "2024-03-01"),
        ("in 2024-02", "2024-02-01", "2024-03-01"),
        ("29.2.2024", "2024-02-29", "2024-03-01"),
        ("am 3. Dezember", "2025-12-03", "2025-12-04"),
        ("hace 3 días", "2026-03-15", "2026-03-16"),
        ("31 June 2023", "2023-06-01", "2023-07-01"),
        ("in 2022", "2022-01-01", "2023-01-01"),
        ("between March and May 2023", "2023-03-01", "2023-06-01"),
        ("from November to January 2024", "2023-11-01", "2024-02-01"),
        ("between January and March", "2026-01-01", "2026-04-01"),
    ],
)
def test_a_time_people_say_is_a_span(text: str, start: str, end: str) -> None:
    assert span(text) == (start, end)


@pytest.mark.parametrize(
    "text",
    [
        "may I ask something",
        "the march was long",
        "3 apples",
        "2023-02-30",
        "30.2.2023",
        "2023-13",
        "Sunday roast",
        "",
    ],
)
def test_what_is_not_clearly_a_time_is_none(text: str) -> None:
    assert span(text) is None


def test_the_rest_of_the_question_has_no_times() -> None:
    _, rest = timed("What did we eat last Tuesday in Rome?", NOW)
    assert rest.split() == ["what", "did", "we", "eat", "in", "rome?"]
