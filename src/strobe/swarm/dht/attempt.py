"""A result that nearly always comes by itself: a future, and what to await in its place when that fails.

Awaited, it is both, one after the other. A host that runs a job which returns one needs a task only for the second
half: for a small request the task is a good part of what there is to do.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Generator
from typing import Any, Generic, TypeVar

_Result = TypeVar("_Result")


class Attempt(Generic[_Result]):
    """`first` is nobody else's. `otherwise` gets its error by awaiting it too; it may raise that, or do better."""

    __slots__ = ("first", "otherwise")

    def __init__(self, first: asyncio.Future[_Result], otherwise: Callable[[], Awaitable[_Result]]) -> None:
        self.first = first
        self.otherwise = otherwise

    def __await__(self) -> Generator[Any, None, _Result]:
        with contextlib.suppress(Exception):  # not swallowed: see `otherwise`
            return (yield from self.first.__await__())
        return (yield from self.otherwise().__await__())
