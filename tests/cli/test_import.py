"""`strobe import`: what is said, what is written, which code comes back."""

from __future__ import annotations

import csv
import io
import shutil
from operator import itemgetter
from pathlib import Path

import pytest

from strobe.cli import import_
from strobe.home import Home
from tests.cli.conftest import Strobe, record
from tests.remote.real_server import RealServer

GOLDEN = Path(__file__).parents[1] / "importers" / "golden"
RUN = "local/digits/p61g5ln2"


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A copy of the golden wandb run that may be changed."""
    shutil.copytree(GOLDEN / "wandb", tmp_path / "wandb")
    return next((tmp_path / "wandb").glob("*/*.wandb"))


def test_a_run_is_imported_once(strobe: Strobe, home: Home) -> None:
    first = strobe("import", "wandb", str(GOLDEN / "wandb"))
    assert first.code == 0
    assert first.out.split() == ["imported", *first.out.split()[1:]]
    assert f"{RUN}  first name  24 rows" in first.out
    assert "strobe ui" in first.err
    again = strobe("import", "wandb", str(GOLDEN / "wandb"))
    assert (again.code, again.out.split()[0]) == (0, "present")
    shown = strobe("run", "show", "p61g5ln2", "--json").json
    assert (shown["name"], shown["state"], shown["last_step"]) == ("second name", "finished", 1000)
    assert not (home.path / "importing").exists()


def test_json_says_all_of_it(strobe: Strobe) -> None:
    found = strobe("import", "tensorboard", str(GOLDEN / "tensorboard"), "--project", "tb", "--entity", "me", "--json")
    assert found.code == 0
    assert (found.json["imported"], found.json["present"], found.json["failed"]) == (3, 0, 0)
    by_name = {run["name"]: run for run in found.json["runs"]}
    assert sorted(by_name) == ["torch", "torch/hp", "x"]
    assert by_name["torch"]["run"].startswith("me/tb/")
    assert by_name["torch"]["left_out"] == {"value of plugin pr_curves": 1}
    assert by_name["torch"]["rows"] == 29
    keys = "run name status sources rows samples files artifacts directory losses left_out notes error"
    assert list(by_name["torch"]) == keys.split()


def test_a_dry_run_writes_nothing(strobe: Strobe, home: Home) -> None:
    found = strobe("import", "tensorboard", str(GOLDEN / "tensorboard"), "--dry-run")
    assert found.code == 0
    assert [line.split("  ")[0] for line in found.lines] == ["would import"] * 3
    assert not home.path.exists()


def test_a_source_that_grew_is_said_and_replaced_on_demand(strobe: Strobe, copied: Path) -> None:
    content = copied.read_bytes()
    copied.write_bytes(content[:20_000])
    first = strobe("import", "wandb", str(copied))
    assert first.code == 0  # a kill leaves a torn record: nothing is damaged
    assert "the file ends inside a record" in first.err
    copied.write_bytes(content)
    again = strobe("import", "wandb", str(copied))
    assert (again.code, again.out.split()[0]) == (0, "changed")
    assert "--replace" in again.err
    assert strobe("run", "show", "p61g5ln2", "--json").json["state"] == "crashed"
    assert strobe("import", "wandb", str(copied), "--replace").code == 0
    assert strobe("run", "show", "p61g5ln2", "--json").json["state"] == "finished"
    assert RUN in strobe("run", "trash", "ls").out


def test_damage_is_said_and_is_not_success(strobe: Strobe, copied: Path) -> None:
    content = bytearray(copied.read_bytes())
    content[20_000] ^= 0xFF
    copied.write_bytes(content)
    found = strobe("import", "wandb", str(copied))
    assert found.code == 3
    assert "could not be read: a record does not match its checksum" in found.err


def test_what_is_no_file_of_the_kind_is_refused(strobe: Strobe, copied: Path, tmp_path: Path) -> None:
    other = tmp_path / "wandb" / "notes.wandb"
    other.write_text("my notes")
    alone = strobe("import", "wandb", str(other))
    assert alone.code == 1
    assert "begins with b'my note', a .wandb file with b':W&B'" in alone.out
    both = strobe("import", "wandb", str(tmp_path / "wandb"))
    assert both.code == 3
    assert sorted(line.split("  ")[0] for line in both.lines) == ["imported", "not imported"]
    events = strobe("import", "tensorboard", str(other))
    assert (events.code, "which is no TFRecord" in events.out) == (1, True)


def test_long_imports_say_how_far_they_are(strobe: Strobe, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_, "_LINE_S", 0.0)
    loud = strobe("import", "tensorboard", str(GOLDEN / "tensorboard"))
    assert "0 of 3 runs, " in loud.err
    assert " of 18.4 kB, " in loud.err
    quiet = strobe("import", "tensorboard", str(GOLDEN / "tensorboard"), "--replace", "-q")
    assert (quiet.code, quiet.err) == (0, "")


@pytest.mark.parametrize("tracker", ["wandb", "tensorboard"])
def test_a_place_without_runs_is_said(strobe: Strobe, tmp_path: Path, tracker: str) -> None:
    (tmp_path / "nothing").mkdir()
    found = strobe("import", tracker, str(tmp_path / "nothing"))
    assert found.code == 1
    assert "holds no" in found.err
    assert strobe("import", tracker, str(tmp_path / "absent")).code == 1


def test_another_run_is_never_written_into(strobe: Strobe, home: Home) -> None:
    record(home, "p61g5ln2", project="digits")
    found = strobe("import", "wandb", str(GOLDEN / "wandb"))
    assert found.code == 1
    assert f"another run has the name {RUN}" in found.out
    assert strobe("import", "wandb", str(GOLDEN / "wandb"), "--project", "elsewhere").code == 0


def test_a_project_that_cannot_be_is_a_usage_error(strobe: Strobe) -> None:
    assert strobe("import", "wandb", str(GOLDEN / "wandb"), "--project", "a/b").code == 2


def test_imported_runs_reach_a_server_whole(
    strobe: Strobe, home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    strobe("import", "wandb", str(GOLDEN / "wandb"))
    strobe("import", "tensorboard", str(GOLDEN / "tensorboard"))
    (tmp_path / "server").mkdir()
    server = RealServer(tmp_path / "server")
    try:
        monkeypatch.setenv("STROBE_API_KEY", server.key)
        synced = strobe("sync", "--all", "--host", server.url, "--json")
        assert synced.code == 0, synced.err
        assert (synced.json["synced"], synced.json["failed"]) == (4, 0)
        server.store.settler.settle()
        here, there = (strobe("run", "ls", "--json", *host).json for host in ([], ["--host", server.url]))
        for run in (*here, *there):
            del run["entity"], run["directory"], run["url"]
        # Two began at the same time, to the nanosecond.
        assert sorted(there, key=itemgetter("id")) == sorted(here, key=itemgetter("id"))
        for run in here:
            exported = [strobe("run", "export", run["id"], *host).out for host in ([], ["--host", server.url])]
            rows = [list(csv.DictReader(io.StringIO(text))) for text in exported]
            assert rows[0] == rows[1]
    finally:
        server.close()
