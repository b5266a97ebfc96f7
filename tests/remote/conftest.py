"""Servers that end with the test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from .small_server import SmallServer


@pytest.fixture
def make_server() -> Iterator[Callable[..., SmallServer]]:
    made: list[SmallServer] = []

    def make(**options: Any) -> SmallServer:
        server = SmallServer(**options)
        server.start()
        made.append(server)
        return server

    yield make
    for server in made:
        server.stop_serving()


@pytest.fixture
def server(make_server: Callable[..., SmallServer]) -> SmallServer:
    return make_server()
