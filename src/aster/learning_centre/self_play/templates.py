"""The challenges that come with the engine: data, in several variants each, so that they can be met without a model's
help and without the same one coming back at once."""

import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any, cast

import msgspec

from aster.learning_centre.self_play.challenge import Challenge


@cache
def shipped() -> tuple[Challenge, ...]:
    """All of them; read when the first is wanted."""
    place = files("aster.learning_centre.self_play") / "challenges"
    found = sorted((each for each in place.iterdir() if each.name.endswith(".toml")), key=lambda each: each.name)
    return tuple(
        challenge
        for each in found
        for template in tomllib.loads(each.read_text("utf-8"))["challenge"]
        for challenge in _variants(template)
    )


def _variants(template: dict[str, Any]) -> Iterator[Challenge]:
    variants: list[dict[str, str]] = template.pop("variants", [{}])
    for variant in variants:
        yield msgspec.convert(_filled(template, variant), Challenge)


def _filled(value: Any, variant: dict[str, str]) -> Any:
    if isinstance(value, dict):
        given = cast("dict[str, Any]", value)
        return {_filled(name, variant): _filled(each, variant) for name, each in given.items()}
    for name, text in variant.items():
        value = value.replace(f"<<{name}>>", text)
    return value
