"""What strobe exports: nothing more and nothing less than is listed here, and nothing is loaded before it is used."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

import strobe

#: everything `from strobe import …` may rely on; adding a name here is a decision, removing one breaks somebody
EXPORTED = {
    # starting and ending
    "init", "finish", "run", "attach", "Run", "Settings",
    # the current run
    "log", "config", "summary", "alert", "define_metric", "watch", "unwatch", "save", "restore", "log_code",
    "log_artifact", "use_artifact", "log_model", "use_model", "link_artifact", "link_model", "upsert_artifact",
    "finish_artifact", "mark_preempting",
    # what can be logged
    "Artifact", "Audio", "Classes", "Graph", "Histogram", "Html", "Image", "Molecule", "Object3D", "Plotly", "Table",
    "Video", "box3d", "plot", "plot_table",
    # reading
    "Api",
    # errors and talk
    "AlertLevel", "CommError", "Error", "UsageError", "termerror", "termlog", "termwarn",
    # for scripts written for wandb
    "agent", "controller", "join", "login", "require", "setup", "sweep", "teardown",
    "__version__",
}  # fmt: skip

#: whole modules under the names that wandb gives them
MODULES = {"data_types", "errors", "util"}

#: methods and properties of a run
RUN = {
    "alert", "attempt", "config", "config_static", "define_metric", "dir", "disabled", "display", "entity", "finish",
    "finish_artifact", "get_project_url", "get_url", "group", "id", "job_type", "link_artifact", "link_model", "log",
    "log_artifact", "log_code", "log_model", "mark_preempting", "name", "notes", "offline", "path", "project",
    "project_name", "project_url", "restore", "resumed", "save", "settings", "start_time", "starting_step", "status",
    "step", "summary", "sweep_id", "sweep_url", "sync_dir", "tags", "to_html", "unwatch", "upsert_artifact", "url",
    "use_artifact", "use_model", "watch", "write_logs",
}  # fmt: skip

WANDB = """Api Audio Graph Histogram Html Image Molecule Object3D Plotly Run Table Video __version__ agent box3d config
controller define_metric finish init join link_model log log_artifact log_model plot_table save setup summary sweep
unwatch use_artifact use_model watch Artifact Settings login run AlertLevel Error CommError UsageError alert teardown
attach Classes data_types plot util errors termlog termwarn termerror restore mark_preempting require"""


def test_all_is_what_is_listed_here() -> None:
    assert set(strobe.__all__) == EXPORTED
    assert len(strobe.__all__) == len(EXPORTED)
    assert sorted(strobe.__all__) == list(strobe.__all__)


@pytest.mark.parametrize("name", sorted(EXPORTED | MODULES))
def test_every_name_is_there(name: str) -> None:
    getattr(strobe, name)
    assert name in dir(strobe)


def test_names_that_scripts_written_for_wandb_use_are_there() -> None:
    assert set(WANDB.split()) <= EXPORTED | MODULES
    assert strobe.util.generate_id() != strobe.util.generate_id()
    assert strobe.data_types.Table is strobe.Table
    assert strobe.errors.UsageError is strobe.UsageError


def test_no_name_is_made_up() -> None:
    with pytest.raises(AttributeError, match="'logg'"):
        _ = strobe.logg  # type: ignore[attr-defined]
    assert not hasattr(strobe, "_no_such_thing")


def test_a_run_has_these_methods_and_properties() -> None:
    from strobe.sdk import run as module

    public = {name for name in dir(module.Run) if not name.startswith("_")}
    assert public - {"after_fork"} == RUN
    undocumented = [
        name
        for name in public
        if inspect.isfunction(found := getattr(module.Run, name)) and not found.__doc__ and not name.startswith("get_")
    ]
    assert undocumented == ["project_name"] or not undocumented


def test_a_star_import_works() -> None:
    found: dict[str, object] = {}
    exec("from strobe import *", found)
    assert set(found) - {"__builtins__"} == EXPORTED


def test_every_error_is_an_error_of_strobes() -> None:
    kinds = [kind for _, kind in inspect.getmembers(strobe.errors, inspect.isclass)]
    assert len(kinds) > 10
    for kind in kinds:
        assert issubclass(kind, (strobe.Error, UserWarning)), kind
    assert issubclass(strobe.errors.NotInitialized, (strobe.UsageError, ValueError))


# -- what is loaded

HEAVY = """numpy torch pandas PIL psutil subprocess asyncio multiprocessing socket http.client urllib.request logging
ssl strobe.api strobe.cli strobe.agent strobe.bench"""


def loaded(code: str, *names: str) -> list[str]:
    """Return which of the modules a fresh interpreter has loaded after `code`."""
    script = f"import sys\n{code}\nprint([name for name in {names!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    found: list[str] = eval(done.stdout.splitlines()[-1])
    return found


@pytest.mark.slow
def test_import_loads_what_init_needs_and_nothing_heavy() -> None:
    assert loaded("import strobe", *HEAVY.split(), "dataclasses", "strobe.journal.replay", "strobe.data.table") == []


@pytest.mark.slow
def test_a_run_of_numbers_loads_nothing_heavy() -> None:
    code = """
import os, tempfile
os.environ.update(STROBE_HOME=tempfile.mkdtemp(), STROBE_AGENT="off", STROBE_SILENT="true")
import strobe
run = strobe.init(project="p", config={"lr": 0.1})
run.log({"loss": 1.0, "text": "x", "nested": {"a": 1}})
run.finish()
"""
    assert loaded(code, *HEAVY.split()) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "unwanted"),
    [("Api", ("numpy", "pandas", "pyarrow")), ("Table", ("numpy", "pandas", "pyarrow")), ("Artifact", ("numpy",))],
)
def test_a_name_loads_no_library_that_it_may_not_need(name: str, unwanted: tuple[str, ...]) -> None:
    assert loaded(f"import strobe\nstrobe.{name}", *unwanted) == []
