"""The little Markdown the reference pages need; the same input always gives the same bytes."""

from collections.abc import Iterable, Sequence

GENERATED = "<!-- Written by `python -m aster.reference --write`; change the code, not this page. -->"


def page(title: str, *parts: str) -> str:
    """A whole page: a title, the note that it is generated, and its parts with a blank line between."""
    return "\n\n".join([f"# {title}", GENERATED, *(part for part in parts if part)]) + "\n"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table, or nothing when there are no rows."""
    body = [f"| {' | '.join(map(cell, row))} |" for row in rows]
    if not body:
        return ""
    return "\n".join([f"| {' | '.join(head)} |", f"|{'---|' * len(head)}", *body])


def cell(text: str) -> str:
    """A text that stays inside its cell."""
    return " ".join(text.split()).replace("|", "\\|")


def code(text: str) -> str:
    return f"`{text}`"


def fenced(text: str, language: str = "text") -> str:
    return f"```{language}\n{text.rstrip()}\n```"


def prose(docstring: str | None) -> str:
    """A docstring as paragraphs."""
    paragraphs = (docstring or "").split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
