"""The search engines `web_search` can ask: how each is asked, and how its answer is read. Adding one is adding a
function here and its name to the list."""

import html
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import TypeAlias, TypeVar

import httpx2
import msgspec

from aster.contracts.tools import OutcomeClass
from aster.sandbox.fetch import USER_AGENT, FetchFailed, retry_after
from aster.utility_directory.web_text import visible

_SECONDS = 15.0
_ANSWER_BYTES = 4_000_000
_LATER = frozenset((408, 425, 429))
_OUT_OF_QUOTA = frozenset((402, 432, 433))
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,200}>")


_Answer = TypeVar("_Answer")


@dataclass(frozen=True, slots=True)
class Found:
    """One result."""

    title: str
    url: str
    snippet: str
    published_at: str | None = None


Search: TypeAlias = Callable[[httpx2.AsyncClient, str, str, str, int], Awaitable[list[Found]]]
"""Asks an engine: client, base address, key, query, how many."""


class _BraveResult(msgspec.Struct):
    url: str
    title: str = ""
    description: str | None = None
    page_age: str | None = None


class _BraveWeb(msgspec.Struct):
    results: list[_BraveResult] = []


class _BraveAnswer(msgspec.Struct):
    web: _BraveWeb | None = None


class _TavilyResult(msgspec.Struct):
    url: str
    title: str | None = None
    content: str | None = None
    published_date: str | None = None


class _TavilyAnswer(msgspec.Struct):
    results: list[_TavilyResult] = []


async def brave(client: httpx2.AsyncClient, base: str, key: str, query: str, count: int) -> list[Found]:
    request = client.build_request(
        "GET",
        f"{base.rstrip('/')}/res/v1/web/search",
        params={"q": query[:400], "count": count, "result_filter": "web", "text_decorations": "false"},
        headers={"X-Subscription-Token": key, "Accept": "application/json"},
    )
    answer = _decoded(await _asked("Brave", client, request), _BraveAnswer, "Brave")
    results = answer.web.results if answer.web else []
    return _kept([(item.title, item.url, item.description, item.page_age) for item in results], count)


async def tavily(client: httpx2.AsyncClient, base: str, key: str, query: str, count: int) -> list[Found]:
    request = client.build_request(
        "POST",
        f"{base.rstrip('/')}/search",
        json={"query": query[:400], "max_results": count},
        headers={"Authorization": f"Bearer {key}"},
    )
    answer = _decoded(await _asked("Tavily", client, request), _TavilyAnswer, "Tavily")
    return _kept([(item.title, item.url, item.content, item.published_date) for item in answer.results], count)


ENGINES: dict[str, Search] = {"Brave": brave, "Tavily": tavily}


def client() -> httpx2.AsyncClient:
    """For an engine's own address, which the operator chose: nothing from the environment, no redirects."""
    return httpx2.AsyncClient(
        timeout=_SECONDS, trust_env=False, follow_redirects=False, headers={"User-Agent": USER_AGENT}
    )


async def _asked(name: str, client: httpx2.AsyncClient, request: httpx2.Request) -> bytes:
    try:
        response = await client.send(request, stream=True)
        try:
            body = bytearray()
            async for piece in response.aiter_bytes():
                body += piece
                if len(body) > _ANSWER_BYTES:
                    raise FetchFailed("bad_answer", f"{name} sent far too much")
        finally:
            await response.aclose()
    except httpx2.TimeoutException:
        raise FetchFailed("timeout", f"{name} did not answer in time", OutcomeClass.RETRYABLE) from None
    except httpx2.HTTPError as error:
        raise FetchFailed("unreachable", f"{name} cannot be reached ({error})", OutcomeClass.RETRYABLE) from error
    if response.status_code != 200:
        raise _refused(name, response)
    return bytes(body)


def _refused(name: str, response: httpx2.Response) -> FetchFailed:
    status = response.status_code
    if status in _LATER or status >= 500:
        text = f"{name} is limiting or failing (status {status})"
        wait = retry_after(response.headers.get("retry-after", ""))
        return FetchFailed("http_status", text, OutcomeClass.RETRYABLE, wait, status)
    if status in _OUT_OF_QUOTA:
        return FetchFailed("quota", f"the plan of the {name} key is used up (status {status})", status=status)
    if status in (401, 403):
        return FetchFailed("unauthorized", f"{name} does not accept its key (status {status})", status=status)
    return FetchFailed("http_status", f"{name} refused the request (status {status})", status=status)


def _decoded(body: bytes, shape: type[_Answer], name: str) -> _Answer:
    try:
        return msgspec.json.decode(body, type=shape)
    except msgspec.DecodeError as error:
        raise FetchFailed("bad_answer", f"{name} answered with something else than results") from error


def _kept(results: list[tuple[str | None, str, str | None, str | None]], count: int) -> list[Found]:
    return [
        Found(
            title=_plain(title or url, 300), url=url, snippet=_plain(text or "", 1000), published_at=_moment(when)
        )
        for title, url, text, when in results
        if url.startswith(("http://", "https://")) and len(url) <= 4000
    ][:count]


def _plain(text: str, most: int) -> str:
    return " ".join(visible(html.unescape(_TAG.sub("", text[: most * 4]))).split())[:most]


def _moment(text: str | None) -> str | None:
    """As ISO 8601 where it is a date as mail and HTTP write it; otherwise as it came."""
    if not text:
        return None
    try:
        return parsedate_to_datetime(text).astimezone(UTC).isoformat()
    except ValueError:
        return _plain(text, 40) or None
