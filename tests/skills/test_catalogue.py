"""The catalogue keeps to its share, and is the same for the same skills."""

from aster.skills.catalogue import HEAD, OWN, catalogue, room
from aster.skills.skill import Acquired, Skill, Status


def skills(count: int, chars: int = 300) -> list[Skill]:
    return [Skill(f"skill-{number:03}", "word " * (chars // 5), "custom") for number in range(count)]


def test_it_is_never_more_than_its_share_and_a_cap() -> None:
    assert room(10_000) == 400
    assert room(100_000) == 4_000
    assert room(2_000_000) == 8_000
    for count in (1, 20, 100, 200, 5_000):
        for most in (400, 4_000, 8_000):
            assert len(catalogue(skills(count), most)) <= most


def test_descriptions_give_way_before_names() -> None:
    told = catalogue(skills(60), 8_000)
    assert all(skill.name in told for skill in skills(60))
    assert "more" not in told.splitlines()[-1]
    cut = catalogue(skills(5_000), 8_000).splitlines()
    assert cut[0] == HEAD
    assert cut[-1].startswith("- and ")


def test_order_does_not_matter_and_a_description_is_one_line() -> None:
    some = [Skill("b", "two\nlines\u202e", "custom"), Skill("a", "x", "custom")]
    assert catalogue(some, 8_000) == catalogue(reversed(some), 8_000) == f"{HEAD}\n- a: x\n- b: two lines"
    assert catalogue([], 8_000) == ""


def test_what_is_retired_is_not_told_of() -> None:
    def having(status: Status) -> list[Skill]:
        return [
            Skill("s", "d", "acquired", acquired=Acquired(code="x", parameters={}, test_payload={}, status=status))
        ]

    assert catalogue(having("active"), 8_000) == f'{OWN}\n- s: "d"'
    assert "mend it" in catalogue(having("degraded"), 8_000)
    assert catalogue(having("retired"), 8_000) == ""
