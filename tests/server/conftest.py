"""A server in this process: the real application on a real store, called without a socket."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from strobe.server import create_app
from strobe.server.endpoint import Endpoint
from strobe.server.services import Rates, ServerSettings, Services
from strobe.store.address import open_database
from strobe.store.blobs import open_blobs
from strobe.store.keys import Scope
from strobe.store.store import Store

#: what tests called the store before it was whole
Parts = Any


class Clock:
    """A clock that moves when it is told to."""

    def __init__(self) -> None:
        self.now_ns = 1_700_000_000 * 10**9

    def __call__(self) -> int:
        return self.now_ns


@dataclass
class Stage:
    """A server, and what a test does with it."""

    parts: Any
    clock: Clock
    settings: ServerSettings = field(default_factory=ServerSettings)
    extra: list[Endpoint] = field(default_factory=list)
    client: tuple[str, int] = ("127.0.0.1", 50_000)
    base_url: str = "http://localhost:8080"

    def __post_init__(self) -> None:
        self.open(self.settings)

    @property
    def store(self) -> Store:
        found: Store = self.parts
        return found

    def open(self, settings: ServerSettings) -> None:
        """Start again with other settings, on the same store."""
        self.settings = settings
        self.services = Services(store=self.store, settings=settings, clock=self.clock, rates=Rates(settings.rates))
        self.app = create_app(self.services, self.extra)

    def serve(self, *endpoints: Endpoint) -> None:
        """Add endpoints."""
        self.extra += endpoints
        self.app = create_app(self.services, self.extra)

    def key(self, user: str, scope: Scope = "write", *, is_admin: bool = False) -> str:
        """Return a new key of a user, who is made if need be."""
        if user not in [account.name for account in self.store.accounts.all()]:
            self.store.accounts.add(user, is_admin=is_admin)
        return self.store.accounts.keys.add(user, scope=scope)[1]

    def project(self, entity: str, name: str, access: str) -> None:
        self.store.database.write(
            lambda cursor: cursor.run(
                "INSERT INTO project (entity, name, access, created_ns) VALUES (?, ?, ?, 0)", entity, name, access
            )
        )

    def transport(self) -> httpx.ASGITransport:
        return httpx.ASGITransport(self.app, client=self.client)

    def run(self, use: Callable[[httpx.AsyncClient], Coroutine[Any, Any, Any]]) -> Any:
        """Run what `use` does with a client."""

        async def session() -> Any:
            async with httpx.AsyncClient(transport=self.transport(), base_url=self.base_url) as client:
                return await use(client)

        return asyncio.run(session())

    def ask(self, method: str, path: str, *, key: str | None = None, **keywords: Any) -> httpx.Response:
        """Send one request."""
        headers = dict(keywords.pop("headers", {}))
        if key is not None:
            headers["Authorization"] = f"Bearer {key}"
        answer: httpx.Response = self.run(lambda client: client.request(method, path, headers=headers, **keywords))
        return answer


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    clock = Clock()
    database = open_database(str(tmp_path / "strobe.db"))
    store = Store(database, open_blobs(tmp_path / "blobs"), clock)
    yield Stage(store, clock)
    store.close()


@pytest.fixture
def local(stage: Stage) -> Stage:
    """The same as `strobe ui` serves it."""
    stage.open(ServerSettings(mode="local"))
    return stage
