"""Bytes from the web as text: which letters they are, and none that a person would not see.

Characters without a shape can carry instructions past the eye of whoever checks a page; they are taken out, except
the two joiners that real scripts need, one at a time.
"""

import codecs
import re

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CHARSET = re.compile(rb"""charset\s*=\s*["']?\s*([\w.:-]{2,40})""", re.IGNORECASE)
_KNOWN = re.compile(
    r"utf-?8|utf-?16(-?[lb]e)?|(iso-?8859|windows|cp)-?\d+(-\d+)?|koi8-?[ru]|macintosh|shift[-_]?jis|sjis|"
    r"euc-?(jp|kr)|iso-?2022-?jp|gbk|gb2312|gb18030|big5(-hkscs)?|tis-620",
    re.IGNORECASE,
)
# What pages say and what browsers understand by it.
_MEANT = {
    "iso-8859-1": "cp1252",
    "iso8859-1": "cp1252",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "macintosh": "mac-roman",
}
_HEAD_BYTES = 4096
_SAMPLE = 8192

_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff"
    "\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_JOINERS = re.compile("[\u200c\u200d]{2,}")
_SELECTORS = re.compile("[\ufe00-\ufe0f]{2,}")
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")

_SILENT = ("script", "style", "template", "noscript", "svg")


def decode(body: bytes, content_type: str = "", *, markup: bool = False) -> str:
    """The text of a body: by its byte order mark, the header, its own word (markup only), or a guess."""
    for mark, name in _BOMS:
        if body.startswith(mark):
            return body[len(mark) :].decode(name, "replace")
    said = _CHARSET.search(content_type.encode("latin-1", "replace"))
    if said is None and markup:
        said = _CHARSET.search(body[:_HEAD_BYTES])
    name = said[1].decode().lower().replace("_", "-") if said else ""
    if _KNOWN.fullmatch(name):
        try:
            return body.decode(_MEANT.get(name, name), "replace")
        except LookupError:
            pass
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        return body.decode("cp1252" if not name.startswith("utf") else "utf-8", "replace")


def visible(text: str) -> str:
    """Without what has no shape and without control characters; line ends are newlines."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    for pattern in (_INVISIBLE, _JOINERS, _SELECTORS, _CONTROLS):
        text = pattern.sub("", text)
    return text


def is_binary(body: bytes) -> bool:
    """Whether this is not text at all: NUL, or many control bytes."""
    if body.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return False
    sample = body[:_SAMPLE]
    controls = sum(byte < 9 or (13 < byte < 32 and byte != 27) for byte in sample)
    return 0 in sample or controls * 20 > len(sample)


def stripped(markup: str) -> str:
    """The words of a page too odd for a parser: tags out, in one pass, whatever is in it."""
    out: list[str] = []
    lower = markup.replace("\u0130", "I").lower()  # the one letter that would grow
    at = 0
    while (start := markup.find("<", at)) >= 0:
        out.append(markup[at:start])
        silent = next((tag for tag in _SILENT if lower.startswith(tag, start + 1)), None)
        if lower.startswith("<!--", start):
            end = markup.find("-->", start + 4)
            at = end + 3 if end >= 0 else len(markup)
        elif silent is not None:
            end = lower.find(f"</{silent}", start)
            at = end if end >= 0 else len(markup)
        else:
            end = markup.find(">", start)
            at = end + 1 if end >= 0 else len(markup)
            out.append(" ")
    out.append(markup[at:])
    return re.sub(r"[ \t]*\n\s*", "\n", re.sub(r"[ \t]+", " ", "".join(out))).strip()
