"""Lines of the soul that a person's words ask for: the soul as it is, with one more of them.

Who the agent is stays as it was; learning adds to what matters to it, what it has learned about this person, and how
it speaks. The oldest lines go when there are too many.
"""

from typing import Any, Final

MOST_LINES: Final = 40


def with_line(fields: dict[str, Any], part: str, text: str) -> dict[str, Any] | None:
    """The fields of a soul with a line more; None when it has it already."""
    made: dict[str, Any] = {name: value for name, value in fields.items() if name != "version"}
    if part == "voice":
        return None if made["voice"] == text else {**made, "voice": text}
    lines = [*made[part]]
    if text.casefold() in (line.casefold() for line in lines):
        return None
    return {**made, part: [*lines, text][-MOST_LINES:]}
