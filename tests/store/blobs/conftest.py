"""Both places for blobs: a directory, and a real HTTP endpoint that speaks S3."""

from __future__ import annotations

import logging
import urllib.request
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from strobe.store.blobs import Blobs, open_blobs


@pytest.fixture(scope="session")
def s3_endpoint() -> Iterator[str]:
    """The address of an S3 server that lives as long as the tests, with a bucket named `bucket`."""
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    endpoint = f"http://{host}:{port}"
    with urllib.request.urlopen(urllib.request.Request(f"{endpoint}/bucket", method="PUT")):
        pass
    yield endpoint
    server.stop()


@pytest.fixture
def s3_blobs(s3_endpoint: str, monkeypatch: pytest.MonkeyPatch) -> Blobs:
    """Blobs below a prefix that no other test has."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", s3_endpoint)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    return open_blobs(f"s3://bucket/{uuid.uuid4().hex}/blobs")


@pytest.fixture(params=["directory", "s3"])
def blobs(request: pytest.FixtureRequest, tmp_path: Path) -> Blobs:
    if request.param == "directory":
        return open_blobs(tmp_path / "blobs")
    found: Blobs = request.getfixturevalue("s3_blobs")
    return found
