from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import pytest

from strobe.errors import SettingsError, StrobeWarning
from strobe.settings import Settings
from strobe.settings.foreign import setting_names
from strobe.settings.names import KEYWORDS

# The wandb settings that people use (ranked A and B), and values they give.
USED = {
    "mode": "offline", "project": "p", "entity": "e", "run_id": "i", "run_name": "n", "run_group": "g",
    "run_job_type": "j", "run_tags": ["t"], "run_notes": "n", "base_url": "http://h", "api_key": "k", "root_dir": "/d",
    "console": "wrap", "silent": True, "quiet": True, "show_info": False, "show_warnings": False, "show_errors": False,
    "show_emoji": True, "init_timeout": 10, "finish_timeout": 10, "resume": "allow", "resume_from": "r?_step=1",
    "fork_from": "r?_step=1", "reinit": True, "save_code": True, "code_dir": ".", "disable_git": True,
    "disable_code": True, "disable_job_creation": True, "symlink": False, "host": "h", "program": "p.py",
    "allow_val_change": True, "x_disable_stats": True, "x_disable_meta": True, "x_stats_sampling_interval": 1.0,
    "x_stats_gpu_device_ids": [0], "x_label": "l", "x_primary": False, "x_update_finish_state": False,
    "x_save_requirements": False, "x_disable_machine_info": True,
}  # fmt: skip


@pytest.mark.parametrize(("name", "value"), USED.items())
def test_settings_people_use_are_accepted_without_a_word(name: str, value: Any) -> None:
    Settings(**{name: value})


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("_internal_queue_size", 10_000, "there is no queue"),
        ("x_internal_queue_size", 10_000, "there is no queue"),
        ("start_method", "thread", "no service process"),
        ("sync_tensorboard", True, "later version"),
        ("monitor_gym", True, "later version"),
        ("x_extra_http_headers", {"a": "b"}, "docs/sync.md"),
        ("x_file_stream_transmit_interval", 5, "docs/sync.md"),
        ("symlink", True, "no link to the latest run"),
    ],
)
def test_settings_without_effect_warn_once_and_never_fail(name: str, value: Any, why: str) -> None:
    with pytest.warns(StrobeWarning, match=f"{name} has no effect: .*{why}") as caught:
        Settings(**{name: value})
    Settings(**{name: value})  # a second warning would be an error
    assert len(caught) == 1
    assert caught[0].filename == __file__


def test_a_silent_settings_object_warns_of_nothing() -> None:
    Settings(start_method="thread", silent=True)
    Settings(start_method="thread", show_warnings=False)
    with pytest.warns(StrobeWarning, match="no service process"):  # not forgotten, only not said
        Settings(start_method="thread")


def test_settings_of_the_performance_guide_mean_something() -> None:
    assert Settings(_stats_sample_rate_seconds=0.1).stats_interval_s == 0.1
    assert Settings(_disable_stats=True).stats is False
    assert Settings(_disable_stats=False).stats is True


def test_wandb_names_can_be_read_too() -> None:
    settings: Any = Settings(root_dir="/somewhere", _disable_stats=True, name="n")
    assert settings.home == settings.root_dir == settings.dir == Path("/somewhere")
    assert settings.x_disable_stats is settings._disable_stats is True
    assert settings.run_name == settings.name == "n"
    with pytest.raises(AttributeError, match="there is no setting 'x_files_dir'"):
        _ = settings.x_files_dir


def test_unknown_setting_names_the_nearest() -> None:
    with pytest.raises(SettingsError, match="there is no setting 'projet'; did you mean project"):
        Settings(projet="x")
    with pytest.raises(SettingsError, match="`strobe config` lists all"):
        Settings(qqqqqq=1)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("silent", "perhaps", "silent is 'perhaps'; write true or false"),
        ("silent", 2, "silent is 2"),
        ("project", 5, "project is 5; it must be text"),
        ("run_tags", 5, "run_tags is 5; write a list of words"),
        ("run_tags", ["a", 1], "write a list of words"),
        ("run_tags", {"a": 1}, "write a list of words"),
        ("stats_interval_s", 0, "write a number > 0"),
        ("stats_interval_s", float("nan"), "write a number > 0"),
        ("stats_interval_s", True, "write a number > 0"),
        ("finish_timeout", -1, "write a number ≥ 0"),
        ("segment_bytes", -1, "500MB or 2GiB"),
        ("segment_bytes", "12 parsecs", "500MB or 2GiB"),
        ("segment_bytes", "MB", "500MB or 2GiB"),
        ("segment_bytes", True, "500MB or 2GiB"),
        ("stats_gpu_ids", "0,x", "write a list of whole numbers"),
        ("stats_gpu_ids", 5, "write a list of whole numbers"),
        ("home", 5, "it must be a path"),
        ("home", b"/x", "it must be a path"),
        ("base_url", "localhost:8080", "write it with http://"),
        ("fork_from", "abc", "write it as RUN\\?_step=N"),
        ("fork_from", "abc?_step=x", "write it as RUN\\?_step=N"),
        ("mode", 3, "write one of online"),
        ("mode", ["offline"], "write one of online"),
        ("resume", 3, "write one of allow"),
    ],
)
def test_impossible_values(name: str, value: Any, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        Settings(**{name: value})


def test_values_in_other_spellings() -> None:
    assert Settings(resume=True).resume == "auto"
    assert Settings(resume=False).explicit() == {}
    assert Settings(reinit=True).reinit == "finish_previous"
    assert Settings(reinit=False).reinit == "return_previous"
    assert Settings(console="wrap_raw").console == "wrap"
    assert Settings(console=False).console == "off"
    assert Settings(mode="Offline").mode == "offline"
    assert Settings(run_tags="a,b").run_tags == ("a", "b")
    assert Settings(home="~/x").home == Path.home() / "x"
    assert Settings(home=" ", project="  ").explicit() == {}
    assert Settings(segment_bytes="10kb").segment_bytes == 10_000
    assert Settings(segment_bytes="7").segment_bytes == 7
    assert Settings(finish_timeout="5").finish_timeout == 5.0

    class Moment:
        run, metric, value = "abc", "_step", 7

    assert Settings(fork_from=Moment()).fork_from == "abc?_step=7"


def test_two_names_for_one_setting_must_agree() -> None:
    assert Settings(stats=False, x_disable_stats=True).stats is False
    with pytest.raises(SettingsError, match="stats and x_disable_stats contradict"):
        Settings(stats=True, x_disable_stats=True)


def test_none_means_not_given() -> None:
    settings = Settings(project=None, symlink=None)
    assert settings.explicit() == {}
    assert settings == Settings()


def test_assignment_is_checked_and_none_takes_back() -> None:
    settings = Settings()
    settings.silent = "yes"  # type: ignore[assignment]  # as somebody without a type checker would
    assert settings.silent is True
    settings.silent = None  # type: ignore[assignment]
    assert settings.explicit() == {}
    with pytest.raises(SettingsError):
        settings.console = "loud"
    settings.update({"name": "n"}, project="p")
    settings.update(Settings(entity="e"))
    assert settings.explicit() == {"run_name": "n", "project": "p", "entity": "e"}


def test_repr_hides_the_key() -> None:
    assert repr(Settings(project="p", api_key="s3cret")) == "Settings(project='p', api_key='****')"


def test_pickle_and_copy() -> None:
    settings = Settings(project="p", tags=["a"])
    for twin in (pickle.loads(pickle.dumps(settings)), copy.copy(settings), copy.deepcopy(settings)):
        assert twin == settings
    assert settings != Settings()
    assert settings != "p"


def test_what_is_honoured_is_not_listed_as_foreign() -> None:
    names = setting_names()
    assert not set(names) & set(KEYWORDS)
    assert len(names) == len(set(names))
