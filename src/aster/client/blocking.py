"""The methods of an async client as plain ones, with the same parameters and the same answers.

There is one implementation: `Call` and `Stream` name a method of it, and type checkers read its signature from there.
"""

from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from functools import wraps
from types import MethodType
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar, overload

from aster.client.portal import Portal

C = TypeVar("C")
P = ParamSpec("P")
R = TypeVar("R")


class Part(Generic[C]):
    """An async client, or a part of one, as seen from threads."""

    def __init__(self, inner: C, portal: Portal) -> None:
        self._inner = inner
        self._portal = portal

    def reach(self) -> tuple[C, Portal]:
        """What is called, and through what."""
        return self._inner, self._portal


class Call(Generic[C, P, R]):
    """A method that answers once."""

    def __init__(self, method: Callable[Concatenate[C, P], Coroutine[Any, Any, R]]) -> None:
        self.method = method
        self.__doc__ = method.__doc__

    @overload
    def __get__(self, part: None, owner: type[Part[C]]) -> Self: ...
    @overload
    def __get__(self, part: Part[C], owner: type[Part[C]]) -> Callable[P, R]: ...
    def __get__(self, part: Part[C] | None, owner: type[Part[C]]) -> Self | Callable[P, R]:
        if part is None:
            return self
        inner, portal = part.reach()

        @wraps(MethodType(self.method, inner))
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            return portal.call(lambda: self.method(inner, *args, **kwargs))

        return call


class Stream(Generic[C, P, R]):
    """A method that answers piece by piece; what it gives is closed by leaving its loop."""

    def __init__(self, method: Callable[Concatenate[C, P], AsyncGenerator[R]]) -> None:
        self.method = method
        self.__doc__ = method.__doc__

    @overload
    def __get__(self, part: None, owner: type[Part[C]]) -> Self: ...
    @overload
    def __get__(self, part: Part[C], owner: type[Part[C]]) -> Callable[P, Generator[R]]: ...
    def __get__(self, part: Part[C] | None, owner: type[Part[C]]) -> Self | Callable[P, Generator[R]]:
        if part is None:
            return self
        inner, portal = part.reach()

        @wraps(MethodType(self.method, inner))
        def stream(*args: P.args, **kwargs: P.kwargs) -> Generator[R]:
            return portal.stream(lambda: self.method(inner, *args, **kwargs))

        return stream
