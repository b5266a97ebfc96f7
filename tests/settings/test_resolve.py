from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from strobe.errors import SettingsError, StrobeWarning
from strobe.settings import Settings, explain, resolve
from strobe.settings.table import FIELDS

from .conftest import Place


def test_precedence_from_default_to_keyword(place: Place) -> None:
    assert (place.resolve().project, place.resolve().origin("project")) == (None, "default")

    place.user_file.write_text('project = "user"\n')
    assert place.resolve().origin("project") == f"{place.user_file}:1"

    project_file = place.project / "strobe.toml"
    project_file.write_text('# ours\nproject = "file"\n')
    assert place.resolve().project == "file"
    assert place.resolve().origin("project") == f"{project_file}:2"

    found = place.resolve(WANDB_PROJECT="wandb")
    assert (found.project, found.origin("project")) == ("wandb", "WANDB_PROJECT")
    found = place.resolve(WANDB_PROJECT="wandb", STROBE_PROJECT="strobe")
    assert (found.project, found.origin("project")) == ("strobe", "STROBE_PROJECT")
    found = place.resolve({"project": "keyword"}, WANDB_PROJECT="wandb", STROBE_PROJECT="strobe")
    assert (found.project, found.origin("project")) == ("keyword", "keyword")


def test_settings_object_comes_between_keywords_and_environment(place: Place) -> None:
    settings = Settings(project="given", run_name="given")
    found = resolve({"project": "keyword"}, {**place.environ, "STROBE_NAME": "env"}, place.cwd, settings=settings)
    assert (found.project, found.run_name, found.origin("run_name")) == ("keyword", "given", "settings")
    found = resolve({}, place.environ, place.cwd, settings={"name": "from a dict"})
    assert found.run_name == "from a dict"


@pytest.mark.parametrize("reverse", [False, True])
def test_strobe_variable_wins_in_any_order(place: Place, reverse: bool) -> None:
    variables = {"STROBE_RUN_NAME": "a", "STROBE_NAME": "b", "WANDB_NAME": "c", "WANDB_RUN_NAME": "d"}
    ordered = dict(sorted(variables.items(), reverse=reverse))
    assert place.resolve(**ordered).run_name == "a"
    del ordered["STROBE_RUN_NAME"]
    assert place.resolve(**ordered).run_name == "b"
    del ordered["STROBE_NAME"]
    assert place.resolve(**ordered).run_name == "c"


def test_strobe_home_beats_wandb_dir_and_keyword_dir_beats_both(place: Place, tmp_path: Path) -> None:
    assert place.resolve().home == tmp_path / "data" / "strobe"
    assert place.resolve(WANDB_DIR="/w").home == Path("/w")
    found = place.resolve(WANDB_DIR="/w", STROBE_HOME="/s")
    assert (found.home, found.origin("home")) == (Path("/s"), "STROBE_HOME")
    assert place.resolve({"dir": "runs"}, STROBE_HOME="/s").home == place.cwd / "runs"


@pytest.mark.parametrize("word", ["true", "1", "yes", "on", "TRUE", "On"])
def test_true(place: Place, word: str) -> None:
    assert place.resolve(STROBE_SILENT=word).silent is True
    assert place.resolve(WANDB_X_DISABLE_STATS=word).stats is False
    assert place.resolve(WANDB__DISABLE_STATS=word).stats is False
    assert place.resolve(WANDB_DISABLED=word).mode == "disabled"


@pytest.mark.parametrize("word", ["false", "0", "no", "off", "No"])
def test_false(place: Place, word: str) -> None:
    assert place.resolve(STROBE_AGENT=word).agent is False
    assert place.resolve(WANDB_DISABLED=word).mode == "offline"


@pytest.mark.parametrize("variable", ["STROBE_SILENT", "WANDB_SILENT", "WANDB_DISABLED", "WANDB_X_DISABLE_STATS"])
def test_other_booleans_are_refused_by_name_and_value(place: Place, variable: str) -> None:
    with pytest.raises(SettingsError, match=rf"{variable} is 'maybe'; write true or false"):
        place.resolve(**{variable: "maybe"})


def test_empty_variable_is_not_set(place: Place) -> None:
    found = place.resolve(STROBE_PROJECT="", WANDB_PROJECT="p", STROBE_SILENT="", WANDB_CACHE_DIR="")
    assert (found.project, found.silent) == ("p", False)


def test_mode(place: Place) -> None:
    assert place.resolve().mode == "offline"
    assert place.resolve(WANDB_MODE="dryrun").mode == "offline"
    assert place.resolve(STROBE_BASE_URL="http://localhost:8080/").mode == "online"
    assert place.resolve(STROBE_BASE_URL="http://localhost:8080/").base_url == "http://localhost:8080"
    assert place.resolve(STROBE_BASE_URL="http://localhost", WANDB_MODE="offline").mode == "offline"
    assert place.resolve({"mode": "shared"}).mode == "shared"
    assert place.resolve(WANDB_DISABLED="true", WANDB_MODE="offline").mode == "disabled"
    assert place.resolve(WANDB_DISABLED="true", STROBE_MODE="offline").mode == "offline"
    with pytest.raises(SettingsError, match=r"WANDB_MODE is 'onlin'; write one of online, offline, disabled, shared"):
        place.resolve(WANDB_MODE="onlin")


def test_online_without_a_server_records_offline_and_says_so(place: Place) -> None:
    with pytest.warns(StrobeWarning, match="no server is configured"):
        assert place.resolve(WANDB_MODE="online").mode == "offline"


def test_wandbs_own_cloud_is_no_server_of_ours(place: Place) -> None:
    with pytest.warns(StrobeWarning, match="not a Strobe server"):
        found = place.resolve(WANDB_BASE_URL="https://api.wandb.ai")
    assert (found.mode, found.base_url, found.origin("base_url")) == ("offline", None, "default")


def test_lists_and_numbers_from_the_environment(place: Place) -> None:
    found = place.resolve(
        WANDB_TAGS="a, b,,c",
        STROBE_STATS_GPU_IDS="0,2",
        WANDB_X_STATS_SAMPLING_INTERVAL="0.5",
        STROBE_SEGMENT_BYTES="4MiB",
        STROBE_QUOTA_BYTES="1.5 GB",
        WANDB_RESUME="true",
    )
    assert found.run_tags == ("a", "b", "c")
    assert found.stats_gpu_ids == (0, 2)
    assert found.stats_interval_s == 0.5
    assert (found.segment_bytes, found.quota_bytes) == (4 * 2**20, 1_500_000_000)
    assert found.resume == "auto"


def test_variable_that_wandb_honours_and_we_do_not_warns_once(place: Place) -> None:
    with pytest.warns(StrobeWarning, match=r"WANDB_CACHE_DIR is set but has no effect: .*STROBE_HOME") as caught:
        place.resolve(WANDB_CACHE_DIR="/c")
    place.resolve(WANDB_CACHE_DIR="/c")  # a second warning would be an error
    assert len(caught) == 1
    assert caught[0].filename == str(Path(__file__).with_name("conftest.py"))  # the nearest line outside strobe


def test_variables_that_are_not_wandbs_or_already_fulfilled_are_left_alone(place: Place) -> None:
    place.resolve(WANDB_WATCH="all", WANDB_LOG_MODEL="end", WANDB_NO_SUCH="1", WANDB_ERROR_REPORTING="false")
    place.resolve(WANDB_SYMLINK="false", WANDB_DISABLE_JOB_CREATION="true", WANDB_SERVICE="2-1-tcp")


def test_slip_in_a_variable_of_ours_warns(place: Place) -> None:
    with pytest.warns(StrobeWarning, match="STROBE_SLIENT is set but is no setting; did you mean STROBE_SILENT"):
        place.resolve(STROBE_SLIENT="1")
    place.resolve(STROBE_BENCH_DIR="elsewhere")  # of another part


def test_explain_hides_secrets_and_covers_every_setting(place: Place) -> None:
    environ = {**place.environ, "WANDB_API_KEY": "s3cret", "STROBE_BASE_URL": "https://me:s3cret@host/x"}
    rows = explain(environ, place.cwd)
    assert [name for name, *_ in rows] == list(FIELDS)
    assert all(doc for *_, doc in rows)
    shown = {name: (value, origin) for name, value, origin, _ in rows}
    assert shown["api_key"] == ("****", "WANDB_API_KEY")
    assert shown["base_url"] == ("https://****@host/x", "STROBE_BASE_URL")
    found = resolve({}, environ, place.cwd)
    assert found.api_key == "s3cret"
    assert "s3cret" not in repr(found) + str(found.as_dict()) + str(dict(found))


def test_bad_secret_is_not_printed(place: Place) -> None:
    with pytest.raises(SettingsError) as caught:
        place.resolve({"api_key": 1234567})
    assert "1234567" not in str(caught.value)


def test_resolved_is_read_only_but_replaceable(place: Place) -> None:
    found = place.resolve({"project": "p", "tags": ["a"]})
    with pytest.raises(AttributeError, match="give project to init"):
        found.project = "q"
    other = found.replace(origin="resume", run_id="r", project=None)
    assert (other.run_id, other.origin("run_id"), other.project, other.run_tags) == ("r", "resume", None, ("a",))
    assert (other.home, other.mode) == (found.home, "offline")
    assert found.run_id is None
    with pytest.raises(SettingsError, match="did you mean project"):
        found.origin("projct")


def test_resolved_survives_pickle_and_copy(place: Place) -> None:
    found = place.resolve({"project": "p"})
    for twin in (pickle.loads(pickle.dumps(found)), copy.copy(found), copy.deepcopy(found)):
        assert twin == found
        assert twin.origin("project") == "keyword"


def test_removed_working_directory_is_survived(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert resolve({}, {"XDG_CONFIG_HOME": str(tmp_path)}).mode == "offline"
    monkeypatch.chdir(tmp_path)


def test_import_is_light_and_reads_no_environment() -> None:
    program = """
import os, sys
import msgspec  # what it loads itself differs between versions of Python
before = set(sys.modules)
os.environ = None
import strobe.settings
print([name for name in ("tomllib", "difflib", "logging", "subprocess", "strobe.settings.foreign", "numpy")
       if name in set(sys.modules) - before])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_whoever_is_silent_is_not_warned_whatever_comes_first(place: Place) -> None:
    (place.project / "strobe.toml").write_text("projet = 'p'\n")
    stray = {"WANDB_SERVICE_WAIT": "300", "WANDB_START_METHOD": "thread"}
    place.resolve({"silent": True, "mode": "online"}, **stray)
    place.resolve(STROBE_SHOW_WARNINGS="false", **stray)
    with pytest.warns(StrobeWarning) as caught:
        place.resolve(**stray)
    assert len(caught) >= 2
