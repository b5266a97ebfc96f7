"""The application as a factory, for other ASGI servers."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx
import pytest

from strobe.errors import StoreError, UsageError
from strobe.server import create_app
from strobe.server.environment import services_from


def test_it_serves_the_store_of_the_environment_and_closes_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STROBE_SERVER_STORE", f"sqlite:///{tmp_path}/strobe.db")
    monkeypatch.setenv("STROBE_SERVER_BLOBS", str(tmp_path / "blobs"))
    app = create_app()

    async def live() -> int:
        async with app.router.lifespan_context(app):
            transport = httpx.ASGITransport(app)
            async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
                return (await client.get("/readyz")).status_code

    assert asyncio.run(live()) == 200
    assert (tmp_path / "strobe.db").exists()


def test_without_a_store_it_says_what_to_set() -> None:
    with pytest.raises(UsageError, match="STROBE_SERVER_STORE"):
        services_from({})
    with pytest.raises((UsageError, StoreError)):
        services_from({"STROBE_SERVER_STORE": "oracle://x", "STROBE_SERVER_BLOBS": "b"})
