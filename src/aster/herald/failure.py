"""How a model call fails: one exception whose kind tells the loop what to do next.

The kind is decided by the protocol that was spoken, from the status and the provider's own machine fields.
Whoever catches it looks at `kind`, `retryable` and `retry_after`, never at the sentence.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import Any

from aster.contracts.blocks import MediaKind
from aster.contracts.errors import EngineError, ErrorCode, Retry


class FailureKind(StrEnum):
    RATE_LIMITED = "rate_limited"
    OVERLOADED = "overloaded"
    TIMEOUT = "timeout"
    TRANSPORT = "transport"
    OVERFLOW = "overflow"
    AUTH = "auth"
    BAD_REQUEST = "bad_request"
    REFUSED_MEDIA = "refused_media"
    PROVIDER = "provider"
    UNAVAILABLE = "unavailable"


_RETRYABLE = frozenset(
    {
        FailureKind.RATE_LIMITED,
        FailureKind.OVERLOADED,
        FailureKind.TIMEOUT,
        FailureKind.TRANSPORT,
        FailureKind.PROVIDER,
    }
)
_OF_REQUESTS = frozenset({FailureKind.BAD_REQUEST, FailureKind.PROVIDER})
_FAULTS = _RETRYABLE - {FailureKind.RATE_LIMITED}
_CODES = {
    FailureKind.RATE_LIMITED: ErrorCode.LLM_RATE_LIMITED,
    FailureKind.TIMEOUT: ErrorCode.LLM_TIMEOUT,
    FailureKind.OVERFLOW: ErrorCode.CONTEXT_OVERFLOW,
}
_STATUS_KINDS = {
    401: FailureKind.AUTH,
    402: FailureKind.AUTH,
    403: FailureKind.AUTH,
    408: FailureKind.TIMEOUT,
    409: FailureKind.PROVIDER,
    413: FailureKind.OVERFLOW,
    425: FailureKind.PROVIDER,
    429: FailureKind.RATE_LIMITED,
    503: FailureKind.OVERLOADED,
    504: FailureKind.TIMEOUT,
    529: FailureKind.OVERLOADED,
}
_ADVICE = {
    FailureKind.RATE_LIMITED: "The model provider limits the rate of calls; try again later.",
    FailureKind.OVERLOADED: "The model provider is overloaded; try again later.",
    FailureKind.TIMEOUT: "The model provider did not answer in time; try again.",
    FailureKind.TRANSPORT: "The connection to the model provider failed; try again.",
    FailureKind.OVERFLOW: "The conversation does not fit the model; shorten it.",
    FailureKind.AUTH: "The model provider refused the key or the account; check LLM_API_KEY and the plan.",
    FailureKind.BAD_REQUEST: "The model provider refused the request; check LLM_MODEL and what was sent.",
    FailureKind.REFUSED_MEDIA: "The model provider refused an image or a document; send another or none.",
    FailureKind.PROVIDER: "The model provider failed; try again.",
    FailureKind.UNAVAILABLE: "There is no model here that could answer.",
}
_SAID_LIMIT = 2000
_MEDIA_WORDS: dict[MediaKind, re.Pattern[str]] = {
    "image": re.compile(r"image|picture|png|jpe?g|gif|webp", re.I),
    "document": re.compile(r"document|pdf|file", re.I),
    "audio": re.compile(r"audio", re.I),
    "video": re.compile(r"video", re.I),
}
_NO_TOOLS = re.compile(
    r"not support\W+(?:\w+\W+){0,3}?(?:tools?|functions?)\b"
    r"|\b(?:tools?|tool (?:use|choice|calls?|calling)|function calling)\W+(?:is|are) not supported"
    r"|\btool(?:s param| choice) requires --"
    r"|no endpoints found that support tool",
    re.I,
)
"""How servers say that a model, or they themselves, take no tools; there is no code for it anywhere."""


class HeraldError(EngineError):
    """A failed model call; `said` is the provider's own sentence, if there was one.

    `resting` says that whoever could have answered has failed too often and is not asked for a while.
    """

    def __init__(
        self,
        kind: FailureKind,
        said: str = "",
        *,
        status: int | None = None,
        provider_code: str | None = None,
        retry_after: float | None = None,
        resting: bool = False,
    ) -> None:
        said = said.strip()[:_SAID_LIMIT]
        details: dict[str, Any] = {"kind": kind.value}
        if status is not None:
            details["status"] = status
        if provider_code is not None:
            details["provider_code"] = provider_code
        if resting:
            details["circuit"] = "open"
        message = f"{_ADVICE[kind]} ({said})" if said else _ADVICE[kind]
        code = _CODES.get(kind, ErrorCode.LLM_PROVIDER_ERROR)
        super().__init__(code, message, details, retry_after=retry_after)
        self.kind = kind
        self._said = said
        self.http_status = status
        self.resting = resting

    @property
    def retryable(self) -> bool:
        return self.kind in _RETRYABLE

    @property
    def retry(self) -> Retry:
        if self.kind is FailureKind.UNAVAILABLE and self.retry_after is not None:
            return "after"
        if not self.retryable:
            return "never"
        return "now" if self.retry_after is None and self.kind is not FailureKind.RATE_LIMITED else "after"

    @property
    def endpoint_fault(self) -> bool:
        """Whether it speaks against the endpoint; a 4xx never does, whatever it means."""
        return self.kind in _FAULTS and not 400 <= (self.http_status or 0) < 500

    @property
    def refuses_tools(self) -> bool:
        """Whether a request was refused because it offered tools. It is read from the provider's own sentence, so
        it is a guess: good for trying again without, and for nothing else."""
        return self.kind in _OF_REQUESTS and _NO_TOOLS.search(self._said) is not None

    @property
    def media_kinds(self) -> frozenset[MediaKind]:
        """The kinds of media a refusal names, read from its sentence: a guess, good for choosing what to leave out."""
        if self.kind is not FailureKind.REFUSED_MEDIA:
            return frozenset()
        return frozenset(kind for kind, named in _MEDIA_WORDS.items() if named.search(self._said))

    def hide(self, secret: str | None) -> "HeraldError":
        """Makes sure that a provider that repeats the key in its answer does not spread it."""
        if secret and secret in self.message:
            self.message = self.message.replace(secret, "[key]")
            self.args = (self.message,)
        return self


def kind_of_status(status: int) -> FailureKind:
    """What an HTTP status means when the provider says nothing more exact."""
    fallback = FailureKind.PROVIDER if status >= 500 else FailureKind.BAD_REQUEST
    return _STATUS_KINDS.get(status, fallback)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, from `retry-after-ms` or `retry-after` (seconds or an HTTP date)."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    seconds = _number(value)
    if seconds is not None or value is None:
        return seconds
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())


def _number(value: str | None) -> float | None:
    try:
        number = float(value or "")
    except ValueError:
        return None
    return number if 0 <= number < 1e9 else None
