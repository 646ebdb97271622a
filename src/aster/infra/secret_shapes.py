"""What secrets look like when nobody told us their value: keys with a maker's prefix, PEM blocks, tokens.

Every shape begins at a literal that ordinary text seldom has and must stand by itself, so that hashes, ids, base64
data and minified code are left alone; a shape that could be a placeholder is asked twice.
"""

import re
from collections.abc import Callable
from functools import cache
from typing import Final, NamedTuple


class Shape(NamedTuple):
    """A kind of secret: `body` is tried at the literals `begins`; a group `value` within it is what is hidden."""

    kind: str
    begins: tuple[str, ...]
    body: str
    check: Callable[[str], bool] | None = None


class Found(NamedTuple):
    """Where a secret stands in a text, and what to call it."""

    start: int
    end: int
    kind: str


_PLACEHOLDER = re.compile(
    r"(?i)^(?:.*(?:example|placeholder|changeme|redacted|your[-_]?|insert|dummy|\*{3}|\.{3}|x{4,}).*"
    r"|pass(?:word|wd)?|pwd|secret|token|test|user|admin|root|postgres|[$<{%\[].*)$"
)
_LONG_RUN = re.compile(r"[A-Za-z0-9+/=]{24}")
_DOTTED_NAMES = re.compile(r"[A-Za-z]+(?:[._-][A-Za-z]+)*")


def _mixed(value: str) -> bool:
    """Letters of both cases and digits, as in a random value and hardly in a name."""
    kinds = (str.islower, str.isupper, str.isdigit)
    return len(set(value)) >= 12 and all(any(kind(char) for char in value) for kind in kinds)


def _varied(value: str) -> bool:
    return len(set(value)) >= 16


def _digits(value: str) -> bool:
    return len(set(value)) >= 8 and any(map(str.isdigit, value))


def _password(value: str) -> bool:
    return _PLACEHOLDER.match(value) is None


def _bearer(value: str) -> bool:
    return _digits(value) and _password(value) and _DOTTED_NAMES.fullmatch(value) is None


def _key_body(value: str) -> bool:
    return _LONG_RUN.search(value) is not None


_B64 = r"[A-Za-z0-9+/=]"
_BODY = r"[A-Za-z0-9+/=\s\\:,.()]"
_GAP = r"(?:\s|\\[nr])*"

PRIVATE_KEY: Final = "private key"
SHAPES: Final = (
    Shape("api key", ("sk-ant-",), r"sk-ant-[a-z]{2,12}\d{2}-[\w-]{32,}"),
    Shape("api key", ("sk-proj-", "sk-svcacct-", "sk-admin-"), r"sk-(?:proj|svcacct|admin)-[\w-]{32,}", _mixed),
    Shape("api key", ("sk-or-",), r"sk-or-v1-[0-9a-f]{64}"),
    Shape("api key", ("sk-",), r"sk-[A-Za-z0-9]{32,}", _mixed),
    Shape("engine key", ("ak-",), r"ak-[\w-]{43}", _mixed),
    Shape("aws access key", ("AKIA", "ASIA"), r"A[KS]IA[A-Z2-7]{16}|A[KS]IA[A-Z0-9]{9}EXAMPLE", _digits),
    Shape(
        "aws secret key",
        ("aws_secret_access_key", "AWS_SECRET_ACCESS_KEY", "SecretAccessKey", "secretAccessKey"),
        r"(?i:aws_)?(?i:secret_?access_?key)[\"']?\s{0,4}[=:]\s{0,4}[\"']?(?P<value>[A-Za-z0-9/+]{40})",
    ),
    Shape(
        "github token",
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
        r"gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_\w{40,255}",
        _varied,
    ),
    Shape("gitlab token", ("glpat-",), r"glpat-[\w-]{20,64}", _digits),
    Shape("slack token", ("xox",), r"xox[abeoprs]-(?:\d-)?[A-Za-z0-9-]{20,}", _digits),
    Shape("slack webhook", ("hooks.slack.com/",), r"hooks\.slack\.com/services/(?P<value>T\w{6,}/B\w{6,}/\w{16,})"),
    Shape("stripe key", ("sk_live_", "rk_live_"), r"[rs]k_live_[A-Za-z0-9]{16,}"),
    Shape("webhook secret", ("whsec_",), r"whsec_[A-Za-z0-9+/=]{24,}", _mixed),
    Shape("google key", ("AIza",), r"AIza[\w-]{35}", _mixed),
    Shape("google secret", ("GOCSPX-",), r"GOCSPX-[\w-]{24,}"),
    Shape("google token", ("ya29.",), r"ya29\.[\w-]{40,}"),
    Shape("npm token", ("npm_",), r"npm_[A-Za-z0-9]{36}", _mixed),
    Shape("pypi token", ("pypi-Ag",), r"pypi-Ag[\w-]{50,}"),
    Shape("huggingface token", ("hf_",), r"hf_[A-Za-z0-9]{34,40}", _varied),
    Shape("api key", ("gsk_",), r"gsk_[A-Za-z0-9]{48,}", _mixed),
    Shape("sendgrid key", ("SG.",), r"SG\.[\w-]{20,24}\.[\w-]{39,50}", _mixed),
    Shape("digitalocean token", ("dop_v1_",), r"dop_v1_[0-9a-f]{64}"),
    Shape("age key", ("AGE-SECRET-KEY-",), r"AGE-SECRET-KEY-1[0-9A-Z]{58}"),
    Shape("jwt", ("eyJ",), r"eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{16,}"),
    Shape(
        "bearer token",
        ("Bearer ", "bearer "),
        r"[Bb]earer (?P<value>[A-Za-z0-9._~+/-]{24,}=*)",
        _bearer,
    ),
    Shape(
        "password in a url",
        ("://",),
        r"(?<=[a-z0-9]):\/\/[^\s:/@\"'<>`]{0,64}:(?P<value>[^\s/@\"'<>`]{6,128})@(?!sha\d+:|example\.)(?=[\w\[])",
        _password,
    ),
    Shape(
        PRIVATE_KEY,
        ("-----BEGIN ",),
        r"-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----"
        rf"(?:{_BODY}*(?:-(?!----){_BODY}*){{0,8}}-----END [A-Z0-9 ]{{3,48}}-----|(?:{_GAP}{_B64}{{24,}})+)",
        _key_body,
    ),
)
"""In the order in which they are tried: the first that fits at a place names it."""

LONGEST_BEGIN: Final = max(len(literal) for shape in SHAPES for literal in shape.begins)
STANDS_ALONE: Final = frozenset(
    {"bearer token", "password in a url", PRIVATE_KEY, "slack webhook", "aws secret key"}
)
"""Shapes that may follow a letter: their own beginning sets them apart."""

_BEFORE = r"(?:(?<![\w+/-])|(?<=\\[nrt]))"
_AFTER = r"(?![\w+/=])"


@cache
def _compiled() -> tuple[tuple[Shape, re.Pattern[str]], ...]:
    return tuple(
        (
            shape,
            re.compile(shape.body if shape.kind in STANDS_ALONE else f"{_BEFORE}(?:{shape.body}){_AFTER}"),
        )
        for shape in SHAPES
    )


def shape_at(text: str, place: int) -> Found | None:
    """The secret that begins at this place of a text, if one does."""
    for shape, pattern in _compiled():
        if not text.startswith(shape.begins, place):
            continue
        match = pattern.match(text, place)
        if match is None:
            continue
        group = "value" if "value" in pattern.groupindex else 0
        if shape.check is None or shape.check(match[group]):
            return Found(*match.span(group), shape.kind)
    return None
