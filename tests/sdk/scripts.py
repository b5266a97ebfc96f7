"""Running a user's script in a process of its own, and reading what it left in the home."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

from strobe.home import Home, RunDir
from strobe.journal import Replay


def environment(home: Home, **more: str) -> dict[str, str]:
    """Return the environment of a newcomer whose home is `home`; no agent, no talk unless asked for."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("STROBE_", "WANDB_", "COV_", "PYTEST_")) and name not in {"RANK", "WORLD_SIZE"}
    }
    return {**kept, "STROBE_HOME": str(home.path), "STROBE_AGENT": "off", "STROBE_SILENT": "true", **more}


def start(code: str, home: Home, *args: str, **options: Any) -> subprocess.Popen[str]:
    """Start `code` as a script file beside the home, as a user would."""
    home.path.mkdir(parents=True, exist_ok=True)
    script = home.path / "script.py"
    text = textwrap.dedent(code)
    if not script.exists() or script.read_text() != text:  # else another process may be reading it just now
        script.write_text(text)
    env = options.pop("env", None) or environment(home)
    return subprocess.Popen(
        [sys.executable, str(script), *args],
        env=env,
        cwd=options.pop("cwd", home.path),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def await_ready(process: subprocess.Popen[str]) -> None:
    """Wait until a started script prints `ready`; one that ends before has its errors shown."""
    assert process.stdout is not None
    line = process.stdout.readline()
    if line != "ready\n":
        process.kill()
        _, err = process.communicate()
        raise AssertionError(f"not ready but {line!r}: {err}")


def execute(code: str, home: Home, *args: str, timeout: float = 60, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run `code` to its end and return how it went."""
    process = start(code, home, *args, **options)
    out, err = process.communicate(timeout=timeout)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def only_run(home: Home) -> RunDir:
    (run_dir,) = home.iter_runs()
    return run_dir


def replay_of(run_dir: RunDir) -> Replay:
    replay = Replay(run_dir)
    replay.refresh()
    assert not replay.damages, replay.damages
    return replay


def only_replay(home: Home) -> Replay:
    return replay_of(only_run(home))


def column(replay: Replay, key: str) -> list[Any]:
    return [row[key] for row in replay.rows() if key in row]


def write_module(directory: Path, name: str, code: str) -> None:
    (directory / f"{name}.py").write_text(textwrap.dedent(code))
