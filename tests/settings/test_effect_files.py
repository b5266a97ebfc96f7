"""Settings about what of the program is kept: code, notebook, files, console."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from strobe.agent.describer import Describer
from strobe.home import Home
from tests.agent.scene import QuietLog
from tests.sdk.scripts import execute, only_replay

from .effect import AgentHere, Start, git, replay_of, shows


@pytest.fixture
def code(tmp_path: Path) -> Path:
    directory = tmp_path / "code"
    directory.mkdir()
    for name in ("train.py", "model.py"):
        (directory / name).write_text(f"# {name}\n")
    return directory


def code_of(home: Home) -> set[str]:
    """Return the names of the files that the code artifacts of a home hold."""
    found: set[str] = set()
    for path in home.artifacts.rglob("*.json"):
        found |= json.loads(path.read_text()).get("contents", {}).keys()
    return found


@shows("save_code")
def test_save_code(start: Start, code: Path) -> None:
    for is_on, kept in ((False, {}), (True, {"train.py"})):
        run = start(save_code=is_on, program=str(code / "train.py"))
        assert replay_of(run).files.keys() == set(kept)
    assert (Path(run.dir) / "train.py").read_text() == "# train.py\n"


@shows("notebook_name")
def test_a_notebook_is_the_program_and_is_saved(start: Start, code: Path) -> None:
    (code / "study.ipynb").write_text("{}")
    run = start(notebook_name=str(code / "study.ipynb"), save_code=True)
    assert replay_of(run).attributes["program"] == str(code / "study.ipynb")
    assert replay_of(run).attributes["notebook"] == str(code / "study.ipynb")
    assert replay_of(run).files.keys() == {"study.ipynb"}


def test_a_kernels_launcher_is_not_taken_for_the_program(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("IPython")
    shell = SimpleNamespace(config={"IPKernelApp": {}})
    module.get_ipython = lambda: shell  # type: ignore[attr-defined]
    monkeypatch.setitem(__import__("sys").modules, "IPython", module)
    assert replay_of(start()).attributes["program"] == "<notebook>"
    monkeypatch.setenv("JPY_SESSION_NAME", "/data/study.ipynb")
    assert replay_of(start()).attributes["program"] == "/data/study.ipynb"


@shows("code_dir")
def test_code_dir(start: Start, home: Home, code: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = start(code_dir=code)
    (use,) = replay_of(run).artifacts
    assert (use.kind, code_of(home)) == ("code", {"train.py", "model.py"})
    start(code_dir=code / "missing", silent=False, quiet=True)
    assert capsys.readouterr().err == (
        f"strobe: WARNING code_dir is {code / 'missing'}, which is no directory; no code is saved\n"
    )


@shows("disable_code")
def test_disable_code(
    start: Start, home: Home, code: Path, agent_asked: list[Home], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(code)
    git(code, "init", "-q")
    git(code, "add", ".")
    git(code, "commit", "-qm", "first")
    (code / "train.py").write_text("secret recipe\n")
    options = {"machine_info": False, "save_requirements": False, "program": "train.py"}
    run = start(disable_code=True, code_dir=code, save_code=True, **options)
    assert run.log_code(str(code)) is None
    agent = AgentHere(home, Describer([], lambda writers: None, QuietLog()))
    agent.poll_until_done()
    agent.close()
    replay = replay_of(run)
    assert (replay.files, replay.artifacts, code_of(home)) == ({}, [], set())
    assert (replay.attributes["git_dirty"], "git_diff" in replay.attributes) == (True, False)


@shows("ignore_globs")
def test_ignore_globs(start: Start, home: Home, code: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = start(ignore_globs=["model.*", "data/*"], code_dir=code, silent=False, quiet=True)
    assert code_of(home) == {"train.py"}
    for name in ("weights.bin", "model.bin", "data/deep/x.bin"):
        (code / "out" / name).parent.mkdir(parents=True, exist_ok=True)
        (code / "out" / name).write_text(name)
    assert [Path(path).name for path in run.save(str(code / "out/**"), base_path=code / "out")] == ["weights.bin"]
    run.finish()
    assert replay_of(run).files.keys() == {"weights.bin"}
    assert capsys.readouterr().err == ""


@shows("console")
@pytest.mark.parametrize(("mode", "is_recorded"), [("auto", True), ("wrap", True), ("off", False)])
def test_console(start: Start, mode: str, is_recorded: bool, capsys: pytest.CaptureFixture[str]) -> None:
    run = start(console=mode)
    print("hello from the program")
    run.finish()
    assert capsys.readouterr().out == "hello from the program\n"
    text = "".join(event.text for event in replay_of(run).console())
    assert ("hello from the program" in text) is is_recorded


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "is_recorded"), [("redirect", True), ("wrap", False)])
def test_console_redirect_records_other_programs_too(home: Home, mode: str, is_recorded: bool) -> None:
    done = execute(
        f"""
        import os, strobe
        with strobe.init(settings=strobe.Settings(console={mode!r})):
            os.system("echo hello from another program")
        """,
        home,
    )
    assert done.stdout == "hello from another program\n"
    text = "".join(event.text for event in only_replay(home).console())
    assert ("hello from another program" in text) is is_recorded
