"""A web page as a person reads it, in Markdown: headings, lists, tables, links and code, without the furniture.

What a person would not see (hidden elements, scripts, invisible characters) is not in it. The walk is a loop over a
stack and never recursive, so that depth costs nothing.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import urljoin

from selectolax.lexbor import LexborHTMLParser, LexborNode

from aster.utility_directory.web_text import visible

_NEVER = frozenset(
    (
        *(
            "script",
            "style",
            "template",
            "noscript",
            "svg",
            "iframe",
            "object",
            "embed",
            "canvas",
            "video",
            "audio",
        ),
        *("button", "select", "input", "textarea", "datalist", "dialog", "head", "link", "meta", "map"),
    )
)
_FURNITURE = frozenset(("nav", "footer", "aside"))
_FURNITURE_ROLES = frozenset(("navigation", "banner", "contentinfo", "complementary", "search", "dialog", "menu"))
_BLOCKS = frozenset(
    (
        *("p", "div", "section", "article", "main", "header", "footer", "aside", "nav", "figure", "figcaption"),
        *("table", "ul", "ol", "dl", "dt", "dd", "form", "fieldset", "details", "summary", "address", "body"),
    )
)
_HEADINGS = {f"h{level}": "#" * level + " " for level in range(1, 7)}
_HIDING = re.compile(
    r"display:none|visibility:(hidden|collapse)|(?<![\w-])opacity:0*(\.0+)?(%|;|!|$)|font-size:0*(\.0+)?(px|pt|em|%|;|!|$)"
    r"|text-indent:-\d{3,}|(left|top|right|margin-left|margin-top):-\d{4,}|clip-path:inset\((50|100)%"
    r"|clip:rect\((0|1px)[,\s]|(?<![\w-])color:transparent|(max-)?(width|height):0(px)?;.*overflow:hidden"
)
_INK = re.compile(r"(?<![\w-])color:([^;!]+)")
_PAPER = re.compile(r"background(?:-color)?:([^;!]+)")
_MAIN_CHARS = 200
_QUOTES = 5
_CELL_CHARS = 600
_STYLE_CHARS = 4000


@dataclass(frozen=True, slots=True)
class Readable:
    """What a page says; `hidden` counts the elements that were meant for programs only."""

    title: str
    text: str
    hidden: int = 0


def readable(markup: str, url: str) -> Readable:
    """The page at `url`; links come out absolute."""
    tree = LexborHTMLParser(markup)
    base = tree.css_first("base[href]")
    where = urljoin(url, base.attributes.get("href") or "") if base is not None else url
    title = tree.css_first("title")
    walk = _Walk(where)
    root = _root(tree)
    if root is not None:
        walk.over(root)
    name = " ".join(visible(title.text() if title is not None else "").split())
    return Readable(name[:300], walk.result(), walk.hidden)


def _root(tree: LexborHTMLParser) -> LexborNode | None:
    """The part of the page it is about, if it says so and there is something in it."""
    for selector in ("main", "[role=main]", "article"):
        found = tree.css(selector)
        if len(found) == 1 and len(found[0].text()) >= _MAIN_CHARS and not _is_hidden(found[0].attributes):
            return found[0]
    return tree.body


def _is_hidden(attributes: dict[str, str | None]) -> bool:
    if "hidden" in attributes or (attributes.get("aria-hidden") or "").strip().lower() == "true":
        return True
    style = attributes.get("style")
    if not style:
        return False
    if len(style) > _STYLE_CHARS:
        return True
    plain = re.sub(r"/\*.*?\*/|\s+", "", style).lower()
    ink, paper = _INK.search(plain), _PAPER.search(plain)
    return _HIDING.search(plain) is not None or (ink is not None and paper is not None and ink[1] == paper[1])


@dataclass(slots=True)
class _List:
    ordered: bool
    number: int = 0


@dataclass(slots=True)
class _Walk:
    """Writes while it goes. `parts` is the text so far; what a closing tag does is on the stack with its node."""

    base: str
    parts: list[str] = field(default_factory=list[str])
    lists: list[_List] = field(default_factory=list[_List])
    hidden: int = 0
    within: int = 0
    preformatted: int = 0
    quotes: int = 0
    row: list[str] | None = None
    rows: int = 0

    def over(self, root: LexborNode) -> None:
        stack: list[LexborNode | Callable[[], None]] = [root]
        first = True
        while stack:
            item = stack.pop()
            if not isinstance(item, LexborNode):
                item()
                continue
            follower = None if first else item.next
            first = False
            if follower is not None:
                stack.append(follower)
            if item.is_text_node:
                self._text(item.text_content or "")
            elif item.is_element_node:
                leave = self._enter(item)
                if leave is not None:
                    stack.append(leave)
                    child = item.first_child
                    if child is not None:
                        stack.append(child)

    def result(self) -> str:
        text = visible("".join(self.parts))
        text = re.sub(r"[ \t]+\n", "\n", text)
        return re.sub(r"\n{3,}", "\n\n", text).strip()

    def _text(self, text: str) -> None:
        if self.preformatted:
            self.parts.append(text)
            return
        words = re.sub(r"\s+", " ", text)
        if words.startswith(" ") and self._at_line_start():
            words = words[1:]
        if words:
            self.parts.append(words)

    def _at_line_start(self) -> bool:
        return not self.parts or self.parts[-1].endswith(("\n", " "))

    def _block(self) -> None:
        if self.parts and not self.parts[-1].endswith("\n\n"):
            self.parts.append("\n\n" if not self.parts[-1].endswith("\n") else "\n")

    def _line(self) -> None:
        if self.parts and not self.parts[-1].endswith("\n"):
            self.parts.append("\n")

    def _enter(self, node: LexborNode) -> Callable[[], None] | None:
        """Write what comes before the children; what to do after them, or None to leave them out."""
        tag, attributes = node.tag or "", node.attributes
        if tag in _NEVER or self._furniture(node, tag, attributes):
            return None
        if _is_hidden(attributes):
            self.hidden += 1
            return None
        if tag in ("main", "article"):
            self.within += 1
        match tag:
            case "br":
                self.parts.append("\n")
            case "hr":
                self._block()
                self.parts.append("---\n\n")
            case "img":
                alt = " ".join((attributes.get("alt") or "").split())
                self.parts.append(f"[image: {alt[:300]}]" if alt else "")
            case "a":
                return self._link(attributes.get("href") or "")
            case "code" | "kbd" | "samp" if not self.preformatted:
                return self._around("`")
            case "strong" | "b" if not self.preformatted:
                return self._around("**")
            case _:
                return self._structure(tag)
        return _nothing

    def _structure(self, tag: str) -> Callable[[], None]:
        match tag:
            case "pre":
                self._block()
                self.parts.append("```\n")
                self.preformatted += 1
                return self._end_pre
            case "ul" | "ol":
                self._line() if self.lists else self._block()
                self.lists.append(_List(tag == "ol"))
                return self._end_list
            case "li":
                return self._item()
            case "blockquote":
                self._block()
                return self._quote(len(self.parts))
            case "tr":
                self._line()
                kept, self.row = self.row, []
                return lambda: self._end_row(kept)
            case "td" | "th":
                return self._cell(len(self.parts))
            case "table":
                self._block()
                kept_rows, self.rows = self.rows, 0
                return lambda: self._end_table(kept_rows)
            case _ if tag in _HEADINGS:
                self._block()
                self.parts.append(_HEADINGS[tag])
                return self._block
            case _ if tag in _BLOCKS:
                self._block()
                return self._block
            case _:
                return _nothing

    def _furniture(self, node: LexborNode, tag: str, attributes: dict[str, str | None]) -> bool:
        """What is around the content. Within it, footers and asides belong to it; so does a head with the title."""
        if tag in _FURNITURE:
            return not self.within or tag == "nav"
        if tag == "header" and not self.within and node.css_first("h1") is None:
            return True
        return (attributes.get("role") or "").strip().lower() in _FURNITURE_ROLES

    def _link(self, href: str) -> Callable[[], None]:
        start = len(self.parts)
        target = href.strip()
        if not target.startswith(("http://", "https://")):
            try:
                target = urljoin(self.base, target) if target and not target.startswith("#") else ""
            except ValueError:
                target = ""
        if not target.startswith(("http://", "https://")) or len(target) > 2000:
            return _nothing

        def leave() -> None:
            label = " ".join("".join(self.parts[start:]).split())
            del self.parts[start:]
            if label:
                self.parts.append(f"[{label}]({target.replace(' ', '%20').replace(')', '%29')})")

        return leave

    def _around(self, mark: str) -> Callable[[], None]:
        start = len(self.parts)

        def leave() -> None:
            inner = "".join(self.parts[start:])
            if inner.strip() and "\n\n" not in inner and not inner.strip().startswith(mark):
                self.parts[start:] = [inner.replace(inner.strip(), f"{mark}{inner.strip()}{mark}", 1)]

        return leave

    def _item(self) -> Callable[[], None]:
        self._line()
        inner = self.lists[-1] if self.lists else _List(False)
        inner.number += 1
        indent = "  " * min(max(len(self.lists) - 1, 0), 8)
        self.parts.append(f"{indent}{inner.number}. " if inner.ordered else f"{indent}- ")
        return self._line

    def _quote(self, start: int) -> Callable[[], None]:
        self.quotes += 1

        def leave() -> None:
            self.quotes -= 1
            if self.quotes < _QUOTES:
                inner = "".join(self.parts[start:]).strip()
                self.parts[start:] = (
                    ["\n".join(f"> {line}".rstrip() for line in inner.split("\n"))] if inner else []
                )
            self._block()

        return leave

    def _cell(self, start: int) -> Callable[[], None]:
        def leave() -> None:
            inner = "".join(self.parts[start:]).strip()
            if self.row is None or "\n\n" in inner or len(inner) > _CELL_CHARS:
                self._block()
                return
            del self.parts[start:]
            self.row.append(" ".join(inner.replace("|", "\\|").split()))

        return leave

    def _end_row(self, outer: list[str] | None) -> None:
        row, self.row = self.row or [], outer
        if any(row):
            self.parts.append(f"| {' | '.join(row)} |\n")
            self.rows += 1
            if self.rows == 1 and len(row) > 1:
                self.parts.append(f"|{' --- |' * len(row)}\n")

    def _end_table(self, outer: int) -> None:
        self.rows = outer
        self._block()

    def _end_pre(self) -> None:
        self.preformatted -= 1
        self._line()
        self.parts.append("```\n\n")

    def _end_list(self) -> None:
        self.lists.pop()
        self._line() if self.lists else self._block()


def _nothing() -> None:
    return None
