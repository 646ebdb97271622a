"""The pages that people read, and the code in them: every block with its language and where it stands.

A block that cannot be run here says why in a comment above it (`<!-- not run: needs Docker -->`). It is checked in
every other way all the same.
"""

import re
import textwrap
from pathlib import Path
from typing import NamedTuple

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

ROOT = Path(__file__).parents[2]
GENERATED = ROOT / "docs" / "reference"
"""Written from the code, and compared with it by `aster.reference --check`."""

_BLOCK = re.compile(
    r"(?:^[ ]*<!-- not run: (?P<reason>[^\n]*) -->\n)?"
    r"^(?P<indent>[ ]*)```(?P<language>[^\n]*)\n(?P<text>.*?)^(?P=indent)```[ ]*$",
    re.DOTALL | re.MULTILINE,
)
_INLINE = re.compile(r"(?<!`)`([^`\n]+(?:\n[^`\n]+)?)`(?!`)")


class Block(NamedTuple):
    """A fenced block of a page."""

    page: str
    line: int
    language: str
    text: str
    reason: str | None

    @property
    def where(self) -> str:
        return f"{self.page}:{self.line}"


def pages() -> list[Path]:
    """The README and everything in docs that a person wrote."""
    written = (page for page in (ROOT / "docs").rglob("*.md") if GENERATED not in page.parents)
    return [ROOT / "README.md", *sorted(written)]


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text()
    return [
        Block(
            name(page),
            text.count("\n", 0, found.start("language")) + 1,
            found["language"].strip(),
            textwrap.dedent(found["text"]),
            found["reason"],
        )
        for found in _BLOCK.finditer(text)
    ]


def blocks(*languages: str) -> list[Block]:
    """All blocks in these languages."""
    return [block for page in pages() for block in blocks_of(page) if block.language in languages]


def typed(block: Block) -> str:
    """What a person types: all of a script, of a session the lines behind the prompt."""
    if block.language != "console":
        return block.text
    lines = block.text.replace("\\\n", " ").splitlines()
    return "\n".join(line.removeprefix("$ ") for line in lines if line.startswith("$ "))


def calls(block: Block) -> list[list[str]]:
    """The commands of a shell block, each as its words, as a shell reads them."""
    tree = Parser(Language(tree_sitter_bash.language())).parse(typed(block).encode())
    return [_words(node) for node in _below(tree.root_node) if node.type == "command"]


def _below(node: Node) -> list[Node]:
    return [node, *(found for child in node.children for found in _below(child))]


def _words(command: Node) -> list[str]:
    words = [
        child for child in command.children if child.type not in ("variable_assignment", "herestring_redirect")
    ]
    return [_plain(word.text.decode()) for word in words if word.text is not None]


def _plain(word: str) -> str:
    return word[1:-1] if len(word) > 1 and word[0] in "'\"" and word[-1] == word[0] else word


def inline(page: Path) -> list[str]:
    """What is set in code within the prose of a page."""
    prose = _BLOCK.sub("", page.read_text())
    return [" ".join(found.split()) for found in _INLINE.findall(prose)]
