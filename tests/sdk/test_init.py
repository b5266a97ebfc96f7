"""init(): every keyword, names that cannot be, homes that cannot be written, and what a run says of itself."""

from __future__ import annotations

import argparse
import dataclasses
import inspect
import os
import tempfile
import time
import types
from pathlib import Path
from typing import Any

import pytest

import strobe
from strobe.errors import SettingsError, UsageError
from strobe.home import Home
from strobe.sdk.run import Run
from tests.sdk.scripts import column, only_replay, replay_of

# -- keywords


def test_every_keyword_is_taken_and_recorded(home: Home, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    run = strobe.init(
        project="proj",
        entity="team",
        name="the name",
        config={"lr": 0.1, "secretly": 1, "extra": 2},
        id="the-id",
        mode="offline",
        dir=elsewhere,
        group="g",
        job_type="train",
        tags=["a", "b"],
        notes="some text",
        resume="allow",
        reinit="finish_previous",
        strict_steps=True,
        save_code=False,
        allow_val_change=True,
        config_exclude_keys=["secretly"],
        settings={"console": "off"},
        force=False,
    )
    with run:
        assert (run.id, run.entity, run.project, run.path) == ("the-id", "team", "proj", "team/proj/the-id")
        assert (run.name, run.group, run.job_type, run.notes) == ("the name", "g", "train", "some text")
        assert run.tags == ("a", "b")
        assert dict(run.config) == {"lr": 0.1, "extra": 2}
        assert run.settings.strict_steps
        assert Path(run.dir).is_relative_to(elsewhere)
        assert Path(run.sync_dir) == elsewhere / "runs" / "team" / "proj" / "the-id"
    replay = replay_of(run._recorder.run_dir)
    kept = {key: replay.attributes.get(key) for key in ("name", "group", "job_type", "tags", "notes")}
    assert kept == {"name": "the name", "group": "g", "job_type": "train", "tags": ["a", "b"], "notes": "some text"}
    assert replay.config == {"lr": 0.1, "extra": 2}
    assert not home.runs.exists()


def test_every_keyword_of_wandb_is_a_keyword_here() -> None:
    theirs = """entity project dir id name notes tags config config_exclude_keys config_include_keys allow_val_change
    group job_type mode force reinit resume resume_from fork_from save_code tensorboard sync_tensorboard monitor_gym
    settings anonymous"""
    assert set(theirs.split()) <= set(inspect.signature(strobe.init).parameters)


def test_without_keywords_there_is_an_id_a_name_and_a_project(home: Home) -> None:
    with strobe.init() as run:
        assert len(run.id) == 8
        assert run.id.isalnum()
        assert run.name.count("-") == 2
        assert (run.project, run.entity) == ("uncategorized", "local")
        assert (run.group, run.job_type, run.notes, run.tags) == ("", "", None, ())
        assert run.project_name() == "uncategorized"


def test_one_tag_may_be_a_string(home: Home) -> None:
    with strobe.init(tags="single") as run:
        assert run.tags == ("single",)
        run.tags = "other"
        assert list(run.tags) == ["other"]
        run.tags += ("more", "more")
        assert list(run.tags) == ["other", "more"]


def test_name_notes_and_tags_can_be_set(home: Home) -> None:
    with strobe.init(project="p", name="before") as run:
        run.name = "after"
        run.notes = "text"
        run.tags = ["x", "y"]
    found = only_replay(home).attributes
    assert (found["name"], found["notes"], found["tags"]) == ("after", "text", ["x", "y"])


@pytest.mark.parametrize("keyword", ["project", "entity", "id"])
@pytest.mark.parametrize("text", ["a/b", "..", "a:b", "a?b", "a#b", "a%b", "a\\b", "new\nline", "x" * 129, "ü" * 65])
def test_names_that_cannot_be_directories_are_refused_before_anything_is_written(
    home: Home, keyword: str, text: str
) -> None:
    options: dict[str, Any] = {keyword: text}
    with pytest.raises(UsageError, match="run id" if keyword == "id" else keyword):
        strobe.init(**options)
    assert not home.runs.exists() or not list(home.runs.iterdir())


@pytest.mark.parametrize(
    "text", ["with space", "ünïcödé", "x" * 128, ".hidden", "-dash", "~", "a.b", "CON", "日本", "'"]
)
def test_odd_ids_are_kept_as_they_are(home: Home, text: str) -> None:
    with strobe.init(project=text, id=text) as run:
        run.log({"x": 1})
    with strobe.init(project=text, id=text, resume="must") as run:
        assert (run.id, run.resumed, run.starting_step) == (text, True, 1)
    assert strobe.Api().run(f"{text}/{text}").id == text


def test_an_unknown_setting_is_named(home: Home) -> None:
    with pytest.raises(SettingsError, match="consol"):
        strobe.init(settings={"consol": "off"})
    with pytest.raises(TypeError, match="projct"):
        strobe.init(projct="x")  # type: ignore[call-arg]


# -- config


@dataclasses.dataclass
class Options:
    lr: float = 0.1
    layers: int = 3


@pytest.mark.parametrize(
    "config",
    [
        {"lr": 0.1, "layers": 3},
        argparse.Namespace(lr=0.1, layers=3),
        types.SimpleNamespace(lr=0.1, layers=3),
        Options(),
    ],
)
def test_config_of_many_kinds(home: Home, config: Any) -> None:
    with strobe.init(project="p", config=config) as run:
        assert (run.config.lr, run.config["layers"]) == (0.1, 3)
    assert only_replay(home).config == {"lr": 0.1, "layers": 3}


def test_config_of_a_file(home: Home, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"lr": 0.1, "deep": {"a": 1}}')
    with strobe.init(project="p", config=str(tmp_path / "config.json"), config_include_keys=["deep"]) as run:
        assert run.config.deep.a == 1
    assert only_replay(home).config == {"deep": {"a": 1}}


def test_a_wrong_config_starts_nothing(home: Home) -> None:
    with pytest.raises(UsageError):
        strobe.init(project="p", config=3)
    assert not home.runs.exists()
    with pytest.raises(strobe.Error):
        strobe.log({})


# -- what a run says of itself


def test_properties(home: Home) -> None:
    began = time.time()
    with strobe.init(project="p", id="r") as run:
        assert isinstance(run, strobe.Run)
        assert began - 1 < run.start_time < time.time() + 1
        assert (run.step, run.starting_step, run.attempt, run.resumed) == (0, 0, 1, False)
        assert (run.offline, run.disabled) == (True, False)
        assert (run.url, run.project_url, run.sweep_id, run.sweep_url) == (None, None, None, None)
        assert run.config_static == {}
        assert Path(run.dir).is_dir()
        assert repr(run) == f"<strobe.Run local/p/r {run.name!r}>"
        run.log({"x": 1})
        assert run.step == 1
        assert run.status().rows == 1


def test_the_step_can_be_read_at_once_after_the_end(home: Home) -> None:
    run = strobe.init(project="p")
    run.log({"x": 1})
    run.finish()
    began = time.monotonic()
    assert run.step == 1
    assert time.monotonic() - began < 1


def test_a_block_ends_the_run_well_or_failed(home: Home) -> None:
    with strobe.init(project="p") as run:
        pass
    assert replay_of(run._recorder.run_dir).state == "finished"
    with pytest.raises(KeyError), strobe.init(project="p") as run:
        raise KeyError("lost")
    replay = replay_of(run._recorder.run_dir)
    assert (replay.state, replay.exit_code) == ("failed", 1)
    assert "KeyError: 'lost'" in (replay.error or "")


@pytest.mark.parametrize(
    ("code", "exit_code", "state"), [(None, 0, "finished"), (0, 0, "finished"), (7, 7, "failed"), (True, 1, "failed")]
)
def test_exit_codes_of_finish(home: Home, code: Any, exit_code: int, state: str) -> None:
    strobe.init(project="p").finish(exit_code=code)
    replay = only_replay(home)
    assert (replay.exit_code, replay.state) == (exit_code, state)


def test_sys_exit_inside_a_block_keeps_its_code(home: Home) -> None:
    with pytest.raises(SystemExit), strobe.init(project="p"):
        raise SystemExit(4)
    assert (only_replay(home).exit_code, only_replay(home).state) == (4, "failed")


def test_finish_waits_no_longer_than_it_is_told(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is waited for shares one deadline: three things that hang do not make it three times as long."""
    run = strobe.init(project="p", settings={"finish_timeout": 0.3})
    waited: list[float] = []

    def hang(timeout_s: float) -> bool:
        waited.append(timeout_s)
        time.sleep(timeout_s)
        return False

    monkeypatch.setattr(run._media_files, "drain", hang)
    run.__dict__["_artifacts"] = types.SimpleNamespace(drain=hang)
    run._deferred = types.SimpleNamespace(drain=hang, close=hang)  # type: ignore[assignment]
    began = time.monotonic()
    run.finish()
    assert time.monotonic() - began < 0.75
    assert only_replay(home).state == "finished"


# -- homes that cannot be written


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "temporary"
    path.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(path))
    return path


def broken_home(home: Home, what: str) -> None:
    if what == "home":
        home.path.write_text("a file where the home should be")
    elif what == "runs":
        home.path.mkdir()
        home.runs.write_text("")
    else:
        (home.runs / "local").mkdir(parents=True)
        (home.runs / "local" / "p").write_text("")


@pytest.mark.parametrize("what", ["home", "runs", "project"])
def test_a_home_that_cannot_be_written_is_replaced_with_one_warning(
    home: Home, temporary: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    monkeypatch.setenv("STROBE_SILENT", "false")
    monkeypatch.setenv("STROBE_QUIET", "true")
    broken_home(home, what)
    with strobe.init(project="p") as run:
        run.log({"x": 1})
        run.save(__file__, base_path=str(Path(__file__).parent), policy="now")
    assert Path(run.sync_dir).is_relative_to(temporary)
    assert column(replay_of(run._recorder.run_dir), "x") == [1]
    said = capsys.readouterr().err
    assert said.count("WARNING") == 1
    assert str(temporary) in said


def test_a_name_taken_by_somebody_else_in_the_temporary_directory_is_not_used(home: Home, temporary: Path) -> None:
    broken_home(home, "home")
    (temporary / f"strobe-{os.getuid()}").symlink_to("/proc")
    with strobe.init(project="p") as run:
        run.log({"x": 1})
    assert Path(run.sync_dir).is_relative_to(temporary)
    assert column(replay_of(run._recorder.run_dir), "x") == [1]


def test_no_home_at_all_does_not_stop_the_training(
    home: Home, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken_home(home, "home")
    temporary.rmdir()
    temporary.write_text("")
    with strobe.init(project="p", config={"lr": 1}) as run:
        run.log({"x": 1})
        run.summary["y"] = 2
        assert run.config["lr"] == 1
        _ = run.dir
    assert run.status().rejected > 0


def test_a_home_that_may_only_be_read_is_replaced(home: Home, temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    may = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: may(path, mode) and not str(path).startswith(str(home.path)))
    with strobe.init(project="p") as run:
        run.log({"x": 1})
    assert Path(run.sync_dir).is_relative_to(temporary)


def test_run_is_what_init_returns() -> None:
    assert inspect.signature(strobe.init).return_annotation in {"Run", Run}
