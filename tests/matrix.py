"""The matrix: fast tests on every Python there is, at the lowest bounds of our dependencies, and without extras.

Part of `make test-all`. Each cell is a fresh virtual environment; a cell that fails does not stop the others. Python
versions that this machine lacks are listed as absent, not passed over.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

ROOT = Path(__file__).parent.parent
VERSIONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
FAST = ["-m", "pytest", "-q", "-n", "2", "-m", "not slow and not long and not frameworks", "-p", "no:cacheprovider"]
LOWEST = ["msgspec==0.19.0", "psutil==5.9.5", "urllib3==2.0.2", "starlette==0.40.0", "uvicorn==0.30.0"]
SMOKE = """
import sys, strobe
run = strobe.init(project="smoke", config={"lr": 0.1})
run.log({"loss": 0.5, "h": strobe.Histogram([1, 2, 3]), "t": strobe.Table(columns=["a"], data=[[1]])})
run.finish()
assert strobe.Api().run(run.path).summary["loss"] == 0.5
assert "numpy" not in sys.modules
"""


def find_python(version: str) -> str | None:
    """Return an interpreter of that version that can make virtual environments."""
    candidates = [shutil.which(f"python{version}")]
    candidates += [str(path) for path in sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))]
    for candidate in candidates:
        if candidate and _output(candidate, "-c", "import venv, sys; print('%d.%d' % sys.version_info[:2])") == version:
            return candidate
    return None


def _output(*command: str) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=60).stdout.strip()
    except OSError:
        return ""


def make_environment(python: str, directory: Path, *packages: str, groups: tuple[str, ...] = ()) -> str:
    """Install the checkout and `packages` into a new environment; return its interpreter."""
    subprocess.run([python, "-m", "venv", str(directory)], check=True)
    own = str(directory / "bin" / "python")
    install = [own, "-m", "pip", "install", "--quiet"]
    subprocess.run([*install, "--upgrade", "pip>=25.1"], check=True)
    group_options = [option for group in groups for option in ("--group", group)]
    subprocess.run([*install, "--editable", ".", *packages, *group_options], cwd=ROOT, check=True)
    return own


def run_cell(name: str, python: str, workplace: Path) -> bool:
    """Run one cell; return whether it passed."""
    directory = workplace / name
    env = {**os.environ, "STROBE_HOME": str(directory / "home"), "STROBE_AGENT": "off", "STROBE_SILENT": "true"}
    try:
        if name == "no-extras":
            own = make_environment(python, directory)
            subprocess.run([own, "-c", textwrap.dedent(SMOKE)], env=env, check=True)
        elif name == "lowest":
            own = make_environment(python, directory, *LOWEST, groups=("test",))
            subprocess.run([own, *FAST], cwd=ROOT, check=True)
        else:
            own = make_environment(python, directory, groups=("test",))
            subprocess.run([own, *FAST], cwd=ROOT, check=True)
    except subprocess.CalledProcessError as error:
        print(f"matrix: {name} failed: {error}", file=sys.stderr)
        return False
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    return True


def main() -> int:
    cells = {"no-extras": sys.executable, "lowest": sys.executable}
    results: dict[str, str] = {}
    for version in VERSIONS:
        python = find_python(version)
        if python is None:
            results[version] = "absent on this machine"
        else:
            cells[version] = python
    wanted = sys.argv[1:] or list(cells)
    with tempfile.TemporaryDirectory() as workplace:
        for name in wanted:
            results[name] = "passed" if run_cell(name, cells[name], Path(workplace)) else "FAILED"
    for name, result in results.items():
        print(f"matrix: {name:10} {result}")
    return int("FAILED" in results.values())


if __name__ == "__main__":
    sys.exit(main())
