from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from strobe.errors import SettingsError, StrobeWarning
from strobe.settings.files import user_file_path

from .conftest import Place


def test_pyproject_table_counts_and_nearest_file_wins(place: Place) -> None:
    (place.project / "pyproject.toml").write_text('[project]\nname = "x"\n\n[tool.strobe]\nproject = "outer"\n')
    assert place.resolve().project == "outer"
    assert place.resolve().origin("project").endswith("pyproject.toml:5")
    (place.cwd / "pyproject.toml").write_text('[project]\nname = "strobe"\n')  # none of ours: look further up
    assert place.resolve().project == "outer"
    (place.cwd / "strobe.toml").write_text('entity = "inner"\n')  # the nearest one alone counts
    assert (place.resolve().entity, place.resolve().project) == ("inner", None)


@pytest.mark.parametrize(
    "text", ['[tool]\nstrobe.project = "p"', '["tool" . "strobe"]\nproject = "p"', 'tool.strobe = {project = "p"}']
)
def test_pyproject_table_in_other_forms(place: Place, text: str) -> None:
    (place.project / "pyproject.toml").write_text(text)
    assert place.resolve().project == "p"


def test_change_of_a_file_is_seen(place: Place) -> None:
    place.user_file.write_text('project = "one"')
    assert place.resolve().project == "one"
    place.user_file.write_text('project = "second"')
    assert place.resolve().project == "second"
    place.user_file.unlink()
    assert place.resolve().project is None


def test_relative_path_starts_at_the_file(place: Place) -> None:
    (place.project / "strobe.toml").write_text('home = "runs"\nrun_tags = ["a", "b"]\nsilent = true\n')
    found = place.resolve()
    assert (found.home, found.run_tags, found.silent) == (place.project / "runs", ("a", "b"), True)


def test_wandb_names_and_tables_of_other_parts_in_a_file(place: Place) -> None:
    (place.project / "strobe.toml").write_text('x_disable_stats = true\nname = "n"\n[bench]\nrepetitions = 3\n')
    found = place.resolve()
    assert (found.stats, found.run_name) == (False, "n")


def test_broken_toml_names_file_and_line(place: Place) -> None:
    path = place.project / "strobe.toml"
    path.write_text('project = "p"\nentity = \n')
    with pytest.raises(SettingsError, match=rf"{path}:2: not valid TOML: Invalid value"):
        place.resolve()
    path.write_text('project = "p"\nrun_tags = ["a",\n')
    with pytest.raises(SettingsError, match=rf"{path}:3: not valid TOML"):
        place.resolve()
    path.write_bytes(b'project = "\xff"\n')
    with pytest.raises(SettingsError, match="not UTF-8 at byte 11"):
        place.resolve()


def test_wrong_value_names_file_and_line(place: Place) -> None:
    place.user_file.write_text('\n\nsilent = "maybe"\n')
    with pytest.raises(SettingsError, match=rf"{place.user_file}:3: silent is 'maybe'; write true or false"):
        place.resolve()


def test_tool_strobe_that_is_no_table(place: Place) -> None:
    (place.project / "pyproject.toml").write_text("tool.strobe = 1\n")
    with pytest.raises(SettingsError, match="is not a table"):
        place.resolve()


def test_unknown_key_in_a_file_warns_and_names_the_nearest(place: Place) -> None:
    place.user_file.write_text("silnt = true\n")
    with pytest.warns(
        StrobeWarning, match=r"config.toml:1: there is no setting 'silnt'; did you mean silent"
    ) as caught:
        place.resolve()
    place.resolve()  # a second warning would be an error
    assert len(caught) == 1


def test_secret_is_taken_from_the_user_file_only(place: Place) -> None:
    place.user_file.write_text('api_key = "k"\n')
    assert place.resolve().api_key == "k"
    (place.project / "strobe.toml").write_text('api_key = "k"\n')
    with pytest.raises(SettingsError, match=r"strobe.toml:1: api_key is a secret .* `strobe config set api_key`"):
        place.resolve()


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() != 0, reason="needs to give a file away")
def test_file_of_a_stranger_in_an_open_directory_is_ignored(place: Place) -> None:
    path = place.project / "strobe.toml"
    path.write_text('project = "trap"\n')
    os.chown(path, 12345, 12345)
    assert place.resolve().project == "trap"  # a colleague's checkout: the directory is his
    place.project.chmod(0o1777)
    path.write_text('project = "another trap"\n')
    with pytest.warns(StrobeWarning, match="someone else put it"):
        assert place.resolve().project is None


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root may read everything")
def test_unreadable_file_is_ignored_with_a_warning(place: Place) -> None:
    place.user_file.write_text('project = "p"\n')
    place.user_file.chmod(0)
    with pytest.warns(StrobeWarning, match="cannot be read"):
        assert place.resolve().project is None


def test_directory_in_the_place_of_a_file_is_ignored(place: Place) -> None:
    (place.project / "strobe.toml").mkdir()
    with pytest.warns(StrobeWarning, match="cannot be read"):
        assert place.resolve().project is None


@pytest.mark.parametrize(
    ("platform", "environ", "expected"),
    [
        ("linux", {"HOME": "/h"}, "/h/.config/strobe/config.toml"),
        ("linux", {"HOME": "/h", "XDG_CONFIG_HOME": "/c"}, "/c/strobe/config.toml"),
        ("win32", {"APPDATA": "/a"}, "/a/strobe/config.toml"),
        ("darwin", {"XDG_CONFIG_HOME": "/c"}, "/c/strobe/config.toml"),
    ],
)
def test_user_file_per_platform(
    platform: str, environ: dict[str, str], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    assert user_file_path(environ) == Path(expected)


def test_user_file_on_macos(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert user_file_path({}) == Path.home() / "Library" / "Application Support" / "strobe" / "config.toml"
