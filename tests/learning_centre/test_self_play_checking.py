"""Challenges are checked before they are set: what is shipped is sound, and what is not is told apart from a solution
that is wrong."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from msgspec.structs import replace

from aster.engine_core.services import Services
from aster.learning_centre.self_play import checking, quality
from aster.learning_centre.self_play.challenge import CLUSTERS, Challenge
from aster.learning_centre.self_play.templates import shipped
from aster.testing import ModelServer
from tests.live import live

DOUBLE = Challenge(
    cluster="algo",
    tier="basic",
    title="Double",
    statement="Write solution.py, which prints twice the whole number that is its first argument, and nothing else.",
    validator="check(run(4).strip() == '8', 'wrong for 4')\ncheck(run(-1).strip() == '-2', 'wrong for -1')",
    reference="import sys\nprint(2 * int(sys.argv[1]))\n",
    wrong="print(8)\n",
)


@pytest.fixture
async def services() -> AsyncIterator[Services]:
    async with ModelServer() as model, live(model, sandbox="auto") as engine:
        yield engine.engine.services


def test_there_are_challenges_for_every_cluster_and_none_is_objected_to() -> None:
    assert {one.cluster for one in shipped()} == set(CLUSTERS)
    assert len({one.digest for one in shipped()}) == len(shipped()) > 20
    assert {one.title: list(quality.problems(one)) for one in shipped() if list(quality.problems(one))} == {}
    assert list(quality.problems(DOUBLE)) == []


async def test_what_is_shipped_passes_its_own_test(services: Services) -> None:
    quiet = [one for one in shipped() if one.cluster != "concurrency"]
    faults = {one.title: await checking.fault(services, one) for one in quiet}
    assert {title: why for title, why in faults.items() if why is not None} == {}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"validator": "import random\ncheck(run(random.randint(1, 9)))"}, "imports random"),
        ({"validator": "import os\ncheck(run(os.urandom(2)))"}, "urandom"),
        ({"validator": "import datetime\ncheck(run(datetime.datetime.now()))"}, "now"),
        ({"validator": "import socket\nrun(1)"}, "imports socket"),
        ({"validator": "check("}, "no Python"),
        ({"validator": "check(1 == 1)"}, "does not look at the solution"),
        ({"validator": "check(run('other.csv') == '')"}, "other.csv"),
        ({"files": {"data.csv": "a,b\n1,2\n"}}, "does not name data.csv"),
        ({"files": {"../x": ""}}, "no name for a file"),
        ({"files": {"validator.py": ""}}, "no name for a file"),
        ({"statement": DOUBLE.statement + " See data.csv.", "files": {"data.csv": "a,b\n1\n"}}, "columns"),
        ({"statement": DOUBLE.statement + DOUBLE.reference}, "holds the solution"),
        ({"statement": DOUBLE.statement + " Ask http://example.com."}, "no network"),
        ({"statement": "Write solution.py."}, "characters"),
        ({"wrong": DOUBLE.reference}, "the same"),
        ({"solution": "/etc/passwd"}, "must name the solution"),
    ],
)
def test_what_is_objected_to_before_anything_is_run(changes: dict[str, Any], said: str) -> None:
    found = list(quality.problems(replace(DOUBLE, **changes)))
    assert any(said in one for one in found), found


@pytest.mark.parametrize(
    ("validator", "said"),
    [
        ("check(run(4).strip() == '8')\nfloat('60.00%')", "'crashed' of its own solution"),
        ("check(False)", "'refused' of its own solution"),
        ("run(4)", "'passed' of an empty solution"),
        ("check(run(4).strip() == '8')", "'passed' of a wrong solution"),
        ("text = run(4)\ncheck(int(text) == 8)", "'crashed' of an empty solution"),
        ("import os\nrun(4)\nos._exit(0)", "'passed' of an empty solution"),
    ],
)
async def test_a_validator_that_cannot_be_relied_on(services: Services, validator: str, said: str) -> None:
    why = await checking.fault(services, replace(DOUBLE, validator=validator))
    assert why is not None
    assert said in why


@pytest.mark.parametrize(
    ("solution", "verdict"),
    [
        (DOUBLE.reference, "passed"),
        ("raise ValueError('mine')", "refused"),
        ("import os\nos._exit(0)", "refused"),
        ("import sys\nsys.exit(0)", "refused"),
        ("while True: pass", "refused"),
        ("open('validator.py', 'w').write('')\nprint(8)", "refused"),
        ("import os, signal\nos.kill(os.getppid(), signal.SIGKILL)", "crashed"),
    ],
)
async def test_a_solution_that_fails_is_no_fault_of_the_validator(
    services: Services, solution: str, verdict: str
) -> None:
    assert (await checking.check(services, DOUBLE, solution)).verdict == verdict


async def test_a_validator_that_never_ends_is_ended(services: Services) -> None:
    endless = replace(DOUBLE, validator="run(4)\nwhile True: pass")
    assert "'hung' of its own solution" in (await checking.fault(services, endless, 1.5) or "")
