"""Which interpreter, paths and environment an agent gets."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from strobe.agent import command
from strobe.agent.seat import StartError


def _module(file: str | None) -> ModuleType:
    module = ModuleType("m")
    module.__file__ = file
    return module


def test_isolated_and_without_site() -> None:
    arguments = command.build_command("/home")
    assert arguments[0] == sys.executable
    assert arguments[1:3] == ["-I", "-S"]
    assert arguments[arguments.index("-c") + 2] == "/home"


def test_byte_code_goes_where_the_user_wants_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setattr(sys, "pycache_prefix", "/cache")
    assert {"-B", "pycache_prefix=/cache"} <= set(command.build_command("/home"))


def test_paths_name_strobe_and_msgspec_first_and_leave_out_the_script_directory() -> None:
    modules = {"strobe": _module("/app.pyz/strobe/__init__.py"), "msgspec": _module("/site/msgspec/__init__.py")}
    paths = command.import_paths(modules, ["/script", "", "/site", "/lib"])
    assert paths == ["/app.pyz", "/site", "/lib"]


def test_the_script_directory_stays_if_strobe_lies_there() -> None:
    modules = {"strobe": _module("/script/strobe/__init__.py"), "msgspec": _module("/site/msgspec/__init__.py")}
    assert command.import_paths(modules, ["/script", "/site"])[0] == "/script"


def test_an_importer_without_files_is_a_reason() -> None:
    with pytest.raises(StartError, match="strobe was not imported from a file"):
        command.import_paths({"strobe": _module(None)}, [])


def test_a_frozen_application_is_never_run_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    with pytest.raises(StartError, match="frozen"):
        command.find_interpreter()


@pytest.mark.parametrize("executable", ["", None, "/usr/sbin/uwsgi", "/nowhere/python3"])
def test_an_embedding_application_finds_the_python_of_its_prefix(
    executable: str | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    python = tmp_path / "bin" / "python{}.{}".format(*sys.version_info[:2])
    python.parent.mkdir()
    python.touch(mode=0o755)
    monkeypatch.setattr(sys, "executable", executable)
    monkeypatch.setattr(sys, "_base_executable", executable, raising=False)
    monkeypatch.setattr(sys, "exec_prefix", str(tmp_path))
    assert command.find_interpreter() == str(python)


def test_no_interpreter_at_all_is_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("executable", "_base_executable", "exec_prefix", "base_exec_prefix"):
        monkeypatch.setattr(sys, name, "/nowhere/app", raising=False)
    with pytest.raises(StartError, match=r"no Python interpreter found.*/nowhere/app"):
        command.find_interpreter()


def test_the_environment_is_what_an_agent_needs() -> None:
    given = {
        "HOME": "/root",
        "https_proxy": "http://p",
        "LC_ALL": "C",
        "LD_LIBRARY_PATH": "/l",
        "STROBE_AGENT_IDLE_S": "1",
        "STROBE_API_KEY": "secret",
        "PYTHONPATH": "/evil",
        "LD_PRELOAD": "x.so",
        "CUDA_VISIBLE_DEVICES": "0",
        "OMP_NUM_THREADS": "64",
    }
    kept = command.build_environment(given)
    assert sorted(kept) == ["HOME", "LC_ALL", "LD_LIBRARY_PATH", "STROBE_AGENT_IDLE_S", "https_proxy"]
