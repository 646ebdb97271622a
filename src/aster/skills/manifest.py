"""A SKILL.md read as a skill: its name from its head or its directory, its description from its head or first line.

A name that is none is not healed: the skill is refused, by a sentence that says so.
"""

from collections.abc import Mapping
from typing import Final

from aster.skills import frontmatter
from aster.skills.skill import BODY_CHARS, DESCRIPTION_CHARS, Skill, Source, one_line, well_named

NAME: Final = "SKILL.md"
MOST_BYTES: Final = 256_000
_MOST_TAGS: Final = 32


class Wrong(Exception):
    """Why something is no skill, as a sentence."""


def skill_of(
    data: bytes, directory: str, source: Source, files: Mapping[str, bytes], place: str | None = None
) -> Skill:
    """The skill that a manifest describes, or `Wrong`."""
    head, body = frontmatter.read(data.decode("utf-8", "replace").replace("\x00", ""))
    name = _text(head.get("name")) or directory
    if not well_named(name):
        raise Wrong(
            "its name must be lowercase letters and digits, in parts joined by hyphens, 64 characters at most"
        )
    if len(body) > BODY_CHARS:
        raise Wrong(f"its instructions are longer than {BODY_CHARS:,} characters; move parts of them to files")
    described = _text(head.get("description")) or _text(head.get("when_to_use")) or _first(body)
    return Skill(
        name=name,
        description=one_line(described or "No description.", DESCRIPTION_CHARS),
        source=source,
        body=body,
        category=one_line(_text(head.get("category")), 64) or "general",
        capabilities=_tags(head.get("capabilities") or head.get("tags")),
        tools=_tags(head.get("allowed-tools")),
        files=files,
        place=place,
    )


def _text(value: frontmatter.Value | None) -> str:
    return "" if value is None else value.strip() if isinstance(value, str) else ", ".join(value)


def _tags(value: frontmatter.Value | None) -> tuple[str, ...]:
    words = value.replace(",", " ").split() if isinstance(value, str) else value or ()
    return tuple(one_line(word, 64) for word in words[:_MOST_TAGS])


def _first(body: str) -> str:
    """The first line of the instructions that says something."""
    return next((line.strip("# \t") for line in body.split("\n") if line.strip("# \t")), "")
