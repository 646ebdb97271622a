"""Whole searches with the real model on a small shelf: what is found, in which order, and when nothing is."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from aster.memory.embeddings.embedder import Reading
from aster.memory.embeddings.minilm import MiniLM
from aster.memory.retrieval.query import analysed
from aster.memory.retrieval.search import Found, affordable, search
from aster.memory.retrieval.shelf import Item
from aster.memory.retrieval.tuning import Tuning
from tests.memory.retrieval.shelves import SmallShelf

NOW = datetime(2026, 3, 18, 12, tzinfo=UTC)
NAMES = ("Anna", "Ben")
SAID = (
    ("a", "Anna", 30, "I finally adopted a puppy from the shelter, a beagle called Biscuit."),
    ("a", "Ben", 30, "Congratulations! How old is the little one?"),
    ("a", "Anna", 30, "Four months, and already chewing every shoe."),
    ("b", "Ben", 12, "We moved the launch of the website to the end of May."),
    ("b", "Anna", 12, "Good, the payment provider needs three more weeks anyway."),
    ("b", "Ben", 12, "What is the budget for the marketing campaign?"),
    ("b", "Anna", 12, "Twenty thousand euros for the campaign, not a cent more."),
    ("c", "Anna", 1, "My flight to Lisbon leaves on Saturday morning at seven."),
    ("c", "Ben", 1, "Do not forget your passport, it expires this year."),
    ("c", "Anna", 1, "I booked a small hotel near the river for the whole week."),
    ("d", "Ben", 5, "I started running again, five kilometres before breakfast."),
    ("d", "Anna", 5, "My knee still hurts, so I only swim at the moment."),
)


def millis(days_ago: int) -> int:
    return int((NOW - timedelta(days=days_ago)).timestamp() * 1000)


ITEMS = tuple(Item(n, text, who, millis(days), session, n) for n, (session, who, days, text) in enumerate(SAID))


class Asked:
    """The shelf with everything read, and what it finds."""

    def __init__(self) -> None:
        self._model = MiniLM()
        self.readings = self.read([item.text for item in ITEMS])
        self.shelf = SmallShelf(ITEMS, self.readings, NAMES)

    def read(self, texts: Sequence[str]) -> list[Reading]:
        return asyncio.run(self._model.read(texts))

    def find(self, text: str, shelf: SmallShelf | None = None, blind: bool = False, **tuning: object) -> Found:
        query = analysed(text, NAMES, NOW)
        reading = None if blind else self.read([query.meaning])[0]
        return search(shelf or self.shelf, query, reading, millis(0), 5, Tuning(**tuning))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def asked() -> Asked:
    return Asked()


def first(found: Found) -> int:
    return found.hits[0].item.id


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("What is the name of Anna's dog?", 0),
        ("When does the site go live?", 3),
        ("How much money may we spend on advertising?", 6),
        ("Where will Anna stay on her trip?", 9),
        ("Does Ben go running in the morning?", 10),
        ("Why can't Anna jog?", 11),
    ],
)
def test_what_answers_comes_first_whatever_words_it_uses(asked: Asked, text: str, number: int) -> None:
    found = asked.find(text)
    assert number in [hit.item.id for hit in found.hits[:3]]
    assert found.relevance > 0


@pytest.mark.parametrize(
    "text",
    ["What is the capital of Mongolia?", "Which opera did Verdi write first?", "How do I compile the kernel?"],
)
def test_a_question_without_an_answer_gets_nothing(asked: Asked, text: str) -> None:
    found = asked.find(text)
    assert found.hits == ()
    assert found.relevance < 0
    assert asked.find(text, gate=False).hits != ()


def test_the_same_question_gets_the_same_answer_whatever_order_records_came_in(asked: Asked) -> None:
    text = "What did Anna say about the campaign?"
    mixed = list(zip(ITEMS, asked.readings, strict=True))[::-1]
    other = SmallShelf([item for item, _ in mixed], [reading for _, reading in mixed], NAMES)
    assert asked.find(text).hits == asked.find(text).hits
    assert [hit.item.id for hit in asked.find(text, other).hits] == [hit.item.id for hit in asked.find(text).hits]


def test_a_time_alone_gives_what_was_said_then_and_nothing_else(asked: Asked) -> None:
    found = asked.find("What did we talk about yesterday?")
    assert {hit.item.id for hit in found.hits} == {7, 8, 9}
    assert asked.find("What did we talk about in 2019?").hits == ()


def test_a_time_prefers_what_was_said_then(asked: Asked) -> None:
    assert asked.find("What did Ben tell 12 days ago?", gate=False).hits[0].item.session == "b"


def test_a_question_counts_less_than_it_would_as_an_answer(asked: Asked) -> None:
    def score(asking: float) -> float:
        found = asked.find("What is the budget for the marketing campaign?", asking=asking)
        return next(hit.score for hit in found.hits if hit.item.id == 5)

    assert score(0.6) == pytest.approx(score(0.0) - 0.6)


def test_what_is_said_twice_comes_once_before_everything_else(asked: Asked) -> None:
    again = Item(99, ITEMS[6].text, "Anna", ITEMS[6].when, "b", 99)
    shelf = SmallShelf([*ITEMS, again], [*asked.readings, asked.readings[6]], NAMES)
    found = [hit.item.id for hit in asked.find("How many euros for the campaign?", shelf).hits]
    assert found[0] == 6
    assert 99 not in found[1:3]


def test_of_two_alike_the_one_that_helped_more_often_comes_first(asked: Asked) -> None:
    old = [Item(n, ITEMS[6].text, "Anna", millis(300), str(n), 0, uses=uses) for n, uses in ((1, 0), (2, 9))]
    shelf = SmallShelf(old, [asked.readings[6]] * 2, NAMES)
    assert first(asked.find("How many euros for the campaign?", shelf)) == 2


def test_without_a_model_words_still_find(asked: Asked) -> None:
    assert first(asked.find("beagle puppy", blind=True)) == 0
    assert asked.find("zeppelin", blind=True).hits == ()


def test_without_token_vectors_it_is_still_found(asked: Asked) -> None:
    shelf = SmallShelf(ITEMS, asked.readings, NAMES, tokens=False)
    assert first(asked.find("Which puppy did Anna adopt from the shelter?", shelf)) == 0


def test_a_record_whose_vector_is_still_to_be_made_is_found_by_its_words(asked: Asked) -> None:
    """Among others that are near in meaning it is taken as average, not as far from everything."""
    texts = [f"The w{number}8fd{number}c is blue" for number in range(30)]
    items = [Item(n, text, "", millis(1), "", n) for n, text in enumerate(texts)]
    blank = Reading(np.zeros_like(asked.readings[0].vector), [], np.zeros((0, 0), np.float32))
    readings = [*asked.read(texts[:-1]), blank]
    assert 29 in [hit.item.id for hit in asked.find("w298fd29c", SmallShelf(items, readings), gate=False).hits[:2]]


def test_what_goes_while_it_is_searched_is_left_out(asked: Asked) -> None:
    shelf = SmallShelf(ITEMS, asked.readings, NAMES)
    shelf.forget(0)
    assert 0 not in [hit.item.id for hit in asked.find("Which puppy did Anna adopt?", shelf).hits]


def test_an_empty_shelf_has_nothing_to_say(asked: Asked) -> None:
    shelf = SmallShelf([], [], NAMES)
    query = analysed("Which puppy?", NAMES, NOW)
    assert search(shelf, query, None, millis(0)).hits == ()


def test_a_hit_says_what_its_score_is_made_of(asked: Asked) -> None:
    hit = asked.find("Which puppy did Anna adopt from the shelter?").hits[0]
    assert set(hit.reasons) == {"words", "cosine", "tokens"}
    assert all(value > 0 for value in hit.reasons.values())


def test_common_words_are_left_out_before_they_cost_too_much() -> None:
    often = {"the": 900, "launch": 40, "website": 60, "may": 30}
    assert affordable(["the", "launch", "website", "may"], often, 100) == ("may", "launch")
    assert affordable(["the"], often, 100) == ("the",)
    assert affordable([], often, 100) == ()
