"""References: what is recorded, and that a change is noticed when it's fetched."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from strobe.artifact import Artifact
from strobe.artifact.commit import commit
from strobe.errors import ArtifactError, CommError, StrobeWarning, UsageError
from strobe.home import Home
from tests.artifact.stage import write


class _Server:
    """Serves one body with one ETag."""

    def __init__(self) -> None:
        self.etag: str | None = '"abc"'
        self.methods: list[str] = []
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_HEAD(self) -> None:  # the handler's own spelling
                server.methods.append(self.command)
                self.send_response(404 if "missing" in self.path else 200)
                if server.etag:
                    self.send_header("ETag", server.etag)
                self.send_header("Content-Length", "4")
                self.end_headers()

            def do_GET(self) -> None:  # the handler's own spelling
                self.do_HEAD()
                self.wfile.write(b"body")

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._http = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._http.server_port}"
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    def close(self) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[_Server]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    server = _Server()
    yield server
    server.close()


def _logged(home: Home, uri: str, **options: object) -> Artifact:
    artifact = Artifact("refs", "dataset")
    artifact.add_reference(uri, **options)  # type: ignore[arg-type]  # tests pass what they test
    commit(artifact, home, "local", "proj")
    return artifact


def test_a_file_is_fetched_as_it_was_or_not_at_all(home: Home, tmp_path: Path) -> None:
    path = write(tmp_path / "raw" / "with space.txt", "content")
    artifact = _logged(home, path.as_uri())
    entry = artifact.get_entry("with space.txt")
    assert (entry.ref, entry.size) == (f"file://{path}", 7)
    assert not (home.artifacts / "objects").exists(), "a reference stores nothing"
    assert Path(entry.download(tmp_path / "out")).read_text() == "content"
    artifact.verify(tmp_path / "out")
    path.write_text("changed")
    with pytest.raises(ArtifactError, match="changed since"):
        entry.download(tmp_path / "other")
    path.unlink()
    with pytest.raises(ArtifactError, match="can't be read"):
        entry.download(tmp_path / "other")
    assert artifact.download(tmp_path / "third", allow_missing_references=True)


def test_without_checksum_a_file_is_not_read(home: Home, tmp_path: Path) -> None:
    path = write(tmp_path / "a", "1")
    artifact = _logged(home, f"file://{path}", checksum=False)
    path.write_text("22")
    assert Path(artifact.get_entry("a").download(tmp_path / "out")).read_text() == "22"
    artifact.verify(tmp_path / "out")


def test_a_directory_is_one_entry_per_file_up_to_a_limit(home: Home, tmp_path: Path) -> None:
    write(tmp_path / "d" / "a", "1")
    write(tmp_path / "d" / "s" / "b", "2")
    artifact = Artifact("refs", "dataset")
    added = artifact.add_reference(f"file://{tmp_path / 'd'}", name="data")
    assert [entry.path for entry in added] == ["data/a", "data/s/b"]
    with pytest.raises(UsageError, match="max_objects"):
        Artifact("x", "dataset").add_reference(f"file://{tmp_path / 'd'}", max_objects=1)


def test_cloud_addresses_are_recorded_as_they_are(home: Home, tmp_path: Path) -> None:
    artifact = _logged(home, "s3://bucket/key/file.txt")
    entry = artifact.get_entry("file.txt")
    assert (entry.ref, entry.digest, entry.ref_target()) == (("s3://bucket/key/file.txt",) * 3)
    with pytest.raises(ArtifactError, match="only referred to"):
        artifact.download(tmp_path / "out")
    artifact.download(tmp_path / "out", allow_missing_references=True)


@pytest.mark.parametrize(
    ("uri", "reason"),
    [
        ("plain/path", "not a URI"),
        ("file://relative", "absolute path"),
        ("file:///no/such/file", "no file"),
        ("foo://bar/x", "pass name"),
        ("s3://bucket", "pass name"),
    ],
)
def test_what_cannot_be_referred_to_says_why(uri: str, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        Artifact("refs", "dataset").add_reference(uri)


def test_http_is_asked_for_its_etag_and_checked_by_it(home: Home, tmp_path: Path, server: _Server) -> None:
    artifact = _logged(home, f"{server.url}/x/y.txt?token=1")
    entry = artifact.get_entry("y.txt")
    assert (entry.digest, entry.size, entry.extra) == ("abc", 4, {"etag": '"abc"'})
    assert server.methods == ["HEAD"]
    assert Path(entry.download(tmp_path / "out")).read_text() == "body"
    server.etag = '"def"'
    with pytest.raises(ArtifactError, match="changed: its ETag"):
        entry.download(tmp_path / "out")


def test_http_without_etag_or_answer_is_recorded_by_its_address(home: Home, tmp_path: Path, server: _Server) -> None:
    server.etag = None
    artifact = _logged(home, f"{server.url}/a")
    assert artifact.get_entry("a").digest == f"{server.url}/a"
    with pytest.warns(StrobeWarning, match="without its ETag"):
        missing = _logged(home, f"{server.url}/missing")
    with pytest.raises(CommError, match="can't be fetched"):
        missing.download(tmp_path / "out")
    num_requests = len(server.methods)
    Artifact("x", "dataset").add_reference(f"{server.url}/a", checksum=False)
    assert len(server.methods) == num_requests
