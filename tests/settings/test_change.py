from __future__ import annotations

import pytest

from strobe.errors import SettingsError
from strobe.settings.change import remove_setting, write_setting

from .conftest import Place


def test_user_file(place: Place) -> None:
    place.user_file.write_text("# mine\nquiet = true\n")
    done = write_setting("tags", "a, b", environ=place.environ, cwd=str(place.cwd))
    assert (done.name, done.value, done.path, done.decided_by) == ("run_tags", ("a", "b"), place.user_file, None)
    assert place.user_file.read_text() == '# mine\nquiet = true\nrun_tags = ["a", "b"]\n'
    assert place.resolve().run_tags == ("a", "b")


def test_one_name_per_setting_stays_in_a_file(place: Place) -> None:
    place.user_file.write_text('x_disable_stats = true\nname = "old"\n')
    write_setting("_disable_stats", "off", environ=place.environ, cwd=str(place.cwd))
    write_setting("run_name", "new", environ=place.environ, cwd=str(place.cwd))
    assert place.user_file.read_text() == 'stats = true\nrun_name = "new"\n'
    assert remove_setting("x_disable_stats", environ=place.environ, cwd=str(place.cwd)).was_set
    assert not remove_setting("x_disable_stats", environ=place.environ, cwd=str(place.cwd)).was_set
    assert place.user_file.read_text() == 'run_name = "new"\n'


def test_project_file_is_made_here_or_found_upwards(place: Place) -> None:
    done = write_setting("project", "p", project=True, environ=place.environ, cwd=str(place.cwd))
    assert done.path == place.cwd / "strobe.toml"
    done.path.unlink()
    outer = place.project / "pyproject.toml"
    outer.write_text("[tool.strobe]\nsilent = true\n")
    write_setting("home", "runs", project=True, environ=place.environ, cwd=str(place.cwd))
    assert outer.read_text() == '[tool.strobe]\nsilent = true\nhome = "deep/runs"\n'
    assert place.resolve().home == place.cwd / "runs"


def test_secret_stays_out_of_projects(place: Place) -> None:
    with pytest.raises(SettingsError, match="api_key is a secret"):
        write_setting("api_key", "k", project=True, environ=place.environ, cwd=str(place.cwd))
    done = write_setting("api_key", "k", environ=place.environ, cwd=str(place.cwd))
    assert (done.value, place.resolve().api_key) == ("****", "k")


def test_stronger_source_is_named(place: Place) -> None:
    environ = {**place.environ, "WANDB_PROJECT": "w"}
    assert write_setting("project", "p", environ=environ, cwd=str(place.cwd)).decided_by == "WANDB_PROJECT"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("projct", "x", "did you mean project"),
        ("silent", "maybe", "write true or false"),
        ("project", " ", "`strobe config unset project`"),
        ("tags", ",", "`strobe config unset tags`"),
    ],
)
def test_nonsense_is_not_written(place: Place, name: str, text: str, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        write_setting(name, text, environ=place.environ, cwd=str(place.cwd))
    assert not place.user_file.exists()
