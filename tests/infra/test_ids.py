"""Ids differ, also in a forked process."""

import os
import re

from aster.infra.ids import derived_id, new_id


def test_ids_are_short_and_differ() -> None:
    made = [new_id("turn") for _ in range(2000)]
    assert len(set(made)) == len(made)
    assert all(re.fullmatch(r"turn-[0-9a-v]{16}", name) for name in made)


def test_a_forked_process_makes_its_own() -> None:
    new_id("x")
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, new_id("x").encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(read, 100).decode() not in {new_id("x") for _ in range(600)}


def test_a_derived_id_belongs_to_its_parts_alone() -> None:
    assert derived_id("turn", "ada", "t1") == derived_id("turn", "ada", "t1")
    assert len({derived_id("turn", *parts) for parts in (("ab", "c"), ("a", "bc"), ("abc",), ("ab", "c", ""))}) == 4
    assert len(derived_id("turn", "ada")) == len(new_id("turn"))
