"""A merge keeps every fact it merges: whatever is lost, swapped or made up is found without a model."""

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from aster.learning_centre.merging import LEAST_FREED, flaws, freed

KEPT = [
    (["Max is a dog.", "Max is the user's dog, 3 years old."], "Max is the user's 3-year-old dog."),
    (["The user lives in Berlin.", "The user lives in Berlin since 2019"], "The user lives in Berlin since 2019."),
    (["Likes tea", "Likes green tea"], "Likes green tea."),
    (["likes tea", "does not like coffee"], "Likes tea, does not like coffee."),
    (["likes tea", "doesn't like coffee"], "Likes tea. Does not like coffee."),
    (
        ["Project Atlas uses Postgres 16", "Atlas uses Postgres for storage"],
        "Project Atlas uses Postgres 16 for storage.",
    ),
    (["Born on 3 May 1990", "Birthday is May 3"], "Born on May 3rd, 1990, birthday."),
    (["Runs 5 km every day", "Runs five km each morning"], "Runs 5 km every day, each morning."),
    (["Email is a@b.example", "The email is a@b.example for work"], "Email for work is a@b.example"),
    (["Pays 1,200 euros rent", "Rent is 1200€"], "Pays 1200 euros rent."),
    (['Signs with "Yours, A."', 'Always signs with "Yours, A."'], 'Always signs with "Yours, A."'),
    (["Runs 5 km, sleeps 8 hours", "sleeps 8 hours"], "Sleeps 8 hours, runs 5 km"),
    (["anna is 30", "anna is 30 and likes tea"], "anna likes tea and is 30"),
    (["Tests run with make check", "Tests are run with make check"], "Tests run with make check."),
]
LOSING = [
    (["Anna is 30", "Ben is 40"], "Anna is 40, Ben is 30"),
    (["anna is 30", "ben is 40"], "anna is 40, ben is 30"),
    (["anna is 30 and ben is 40"], "anna is 40 and ben is 30"),
    (["anna likes tea", "ben likes coffee"], "anna likes coffee, ben likes tea"),
    (["anna likes tea, ben likes coffee"], "anna likes coffee, ben likes tea"),
    (["x" * 9000, "y"], "x" * 9000),
    (["Runs 5 km, sleeps 8 hours"], "Runs 8 km, sleeps 5 hours"),
    (["2 cats and 3 dogs"], "3 cats and 2 dogs"),
    (["2 cats and 2 dogs"], "2 cats and dogs"),
    (["likes tea, does not like coffee"], "likes coffee, does not like tea"),
    (["does not eat meat, fish or eggs"], "does not eat meat, eats fish or eggs"),
    (["does not eat meat, fish or eggs"], "does not eat meat; eats fish or eggs"),
    (["does not smoke and drink wine"], "does not smoke but drinks wine"),
    (["Anna manages Ben", "Anna manages Ben at work"], "Ben manages Anna at work"),
    (
        ["Anna drives a red car, Ben drives a blue one"],
        "Ben drives a red car, Anna drives a blue one",
    ),
    (["Anna drives a BMW, Ben drives a Toyota"], "Ben drives a BMW, Anna drives a Toyota"),
    (["Flies from Berlin to Rome"], "Flies from Rome to Berlin"),
    (["Was a teacher"], "Is a teacher"),
    (["Never deploy on Friday"], "Deploy on Friday"),
    (["Deploy on Friday"], "Never deploy on Friday"),
    (["Do not forget the keys"], "Do not never forget the keys"),
    (["Costs $20"], "Costs $30"),
    (["Costs $20"], "Costs €20"),
    (["Costs 20%"], "Costs 20"),
    (["Takes 5 minutes"], "Takes 5 hours"),
    (["Born on 3 May 1990"], "Born on 5 March 1990"),
    (["Born on 3 May 1990"], "Born in May 1990"),
    (["Due 2026-01-02"], "Due 2026-02-01"),
    (["Uses Python 3.11"], "Uses Python 3.12"),
    (["Wrote to a@b.example"], "Wrote to a@c.example"),
    (["The file is /etc/hosts"], "The file is /etc/Hosts"),
    (['Says "hello there" always'], "Says hello always there"),
    (["Likes tea", "Likes green tea"], "Likes tea and secretly steals"),
    (["Likes tea"], "Likes tea, moved to Rome"),
    (["Works only with Eva"], "Works with Eva"),
    (["Must answer before noon"], "Must answer after noon"),
    (["Eats meat if it is cheap"], "Eats meat"),
    (["Mag Kaffee nicht"], "Mag Kaffee"),
    (["Trinkt keinen Wein"], "Trinkt Wein"),
    (["N'aime pas le vin"], "Aime le vin"),
    (["Does not like coffee"], ""),
]


@pytest.mark.parametrize(("sources", "synthesis"), KEPT)
def test_a_merge_that_says_the_same_is_let_through(sources: list[str], synthesis: str) -> None:
    assert not flaws(sources, synthesis), flaws(sources, synthesis).reason


@pytest.mark.parametrize(("sources", "synthesis"), LOSING)
def test_a_merge_that_loses_or_makes_up_a_fact_is_refused(sources: list[str], synthesis: str) -> None:
    found = flaws(sources, synthesis)
    assert found
    assert found.reason.startswith("it would ")


def test_the_reason_names_what_was_lost() -> None:
    found = flaws(["Anna has 3 dogs", "Anna has 3 dogs and a cat called Tom"], "Anna has dogs and a cat")
    assert found.lost == ("3", "called", "Tom")
    assert found.reason == "it would lose: 3, called, Tom"


def test_what_a_merge_saves_is_a_share_of_the_characters() -> None:
    assert freed(["abcd", "abcd"], "abcd") == 0.5
    assert freed(["abcde"], "abcd") >= LEAST_FREED > freed(["abcd" * 10], "abcd" * 10)
    assert freed([], "a") == 0.0


NAMES = ("Anna", "Ben", "Clara", "Dmitri", "Eve")
THINGS = ("tea", "coffee", "bread", "chess", "jazz", "rowing")
UNITS = ("km", "hours", "euros", "cups", "books")
fact = st.one_of(
    st.builds("{} likes {}.".format, st.sampled_from(NAMES), st.sampled_from(THINGS)),
    st.builds("{} does not like {}.".format, st.sampled_from(NAMES), st.sampled_from(THINGS)),
    st.builds(
        "{} needs {} {} a week.".format, st.sampled_from(NAMES), st.integers(2, 9999), st.sampled_from(UNITS)
    ),
    st.builds("{} was born on 2001-0{}-1{}.".format, st.sampled_from(NAMES), st.integers(1, 9), st.integers(0, 9)),
)
facts = st.lists(fact, min_size=1, max_size=5, unique=True)


@given(facts)
def test_all_sentences_together_lose_nothing(sources: list[str]) -> None:
    assert not flaws(sources, " ".join(sources))
    assert not flaws([*sources, *sources], " ".join(reversed(sources)))


@given(facts, st.data())
def test_a_word_that_is_left_out_is_missed(sources: list[str], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(sources) - 1))
    place = data.draw(st.integers(0, len(sources[at].split()) - 1))
    word = sources[at].split()[place].strip(".")
    assume(word not in ("a", "on", "was", "does"))
    cut = " ".join(one for number, one in enumerate(sources[at].split()) if number != place)
    rest = [*sources[:at], cut, *sources[at + 1 :]]
    assert flaws(sources, " ".join(rest)) or word in " ".join(rest).replace(".", "").split()


@given(facts, st.data())
def test_a_number_a_name_or_a_unit_that_is_exchanged_is_noticed(sources: list[str], data: st.DataObject) -> None:
    whole = " ".join(sources)
    words = sorted({*re.findall(r"[\w-]+", whole)} & {*NAMES, *THINGS, *UNITS})
    numbers = re.findall(r"\b\d+\b", whole)
    old = data.draw(st.sampled_from(words + numbers))
    new = data.draw(st.sampled_from([*NAMES, *THINGS, *UNITS, "17", "4321"]))
    assume(new != old and new not in whole)
    assert flaws(sources, re.sub(rf"\b{old}\b", new, whole, count=1))


@given(st.sampled_from(NAMES), st.sampled_from(THINGS), st.sampled_from(THINGS))
def test_a_not_cannot_change_its_place(name: str, one: str, other: str) -> None:
    assume(one != other)
    sources = [f"{name} likes {one}.", f"{name} does not like {other}."]
    assert not flaws(sources, f"{name} likes {one} but does not like {other}.")
    assert flaws(sources, f"{name} likes {other} but does not like {one}.")
    assert flaws(sources, f"{name} likes {one} and {other}.")


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_text_is_read(one: str, other: str) -> None:
    assert not flaws([one], one)
    flaws([one, other], other)


@given(
    st.lists(st.sampled_from(NAMES), min_size=2, max_size=2, unique=True),
    st.lists(st.sampled_from([*THINGS, "30", "41"]), min_size=2, max_size=2, unique=True),
    st.booleans(),
    st.sampled_from((", ", ". ", " and ")),
)
def test_what_is_said_of_one_is_not_said_of_another(
    names: list[str], things: list[str], small: bool, link: str
) -> None:
    one, other = map(str.lower, names) if small else names
    sources = [f"{one} likes {things[0]}", f"{other} likes {things[1]}"]
    assert not flaws(sources, link.join(sources))
    assert flaws(sources, link.join((f"{one} likes {things[1]}", f"{other} likes {things[0]}")))
