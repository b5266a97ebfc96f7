"""`strobe run … --host`: the same commands, read from a server."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from strobe.agent.upload.course import Course
from strobe.agent.upload.post import Post
from strobe.home import Home
from strobe.remote.link import Link
from strobe.remote.target import Target
from tests.agent.upload.journal import drive
from tests.remote.real_server import RealServer

from .conftest import Strobe


@pytest.fixture
def url(three: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A server that has the three runs; its key is in the environment."""
    (tmp_path / "server").mkdir()
    real = RealServer(tmp_path / "server")
    link = Link(Target(base_url=real.url, api_key=real.key))
    for run_dir in three.iter_runs():
        drive(Course(run_dir, Post(link)))
    real.store.settler.settle()
    monkeypatch.setenv("STROBE_API_KEY", real.key)
    yield real.url
    real.close()


def test_ls(strobe: Strobe, url: str) -> None:
    here = strobe("run", "ls", "--json").json
    there = strobe("run", "ls", "--host", url, "--json").json
    for run in (*here, *there):
        del run["entity"], run["directory"], run["url"]
    assert there == here
    table = strobe("run", "ls", "-p", "mnist", "--tag", "good", "--host", url)
    assert table.code == 0
    assert [line.split()[0] for line in table.lines] == ["ID", "aa1"]


def test_show(strobe: Strobe, url: str) -> None:
    page = strobe("run", "show", "mnist/aa1", "--host", url)
    assert page.code == 0
    assert f"at {url}/ann/mnist/runs/aa1" in page.out
    assert "None" not in page.out


def test_diff_and_export(strobe: Strobe, url: str) -> None:
    assert strobe("run", "diff", "aa1", "ab2", "--host", url).out == strobe("run", "diff", "aa1", "ab2").out
    here, there = strobe("run", "export", "aa1"), strobe("run", "export", "aa1", "--host", url)
    rows = [list(csv.DictReader(io.StringIO(found.out))) for found in (here, there)]
    assert rows[0] == rows[1]
    assert len(rows[0]) == 5


def test_what_is_not_there(strobe: Strobe, url: str) -> None:
    result = strobe("run", "show", "aa9", "--host", url)
    assert result.code == 1
    assert "did you mean aa1?" in result.err
