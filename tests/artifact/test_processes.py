"""Real processes at once, and processes killed at any moment: versions stay distinct, whole and right."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from strobe.artifact import store
from strobe.home import Home

pytestmark = pytest.mark.slow

_ROOT = Path(__file__).parents[2]

#: logs versions of one name; each says on stdout which number it got
_LOGGER = """
import os, sys
from pathlib import Path
from strobe.artifact import Artifact
from strobe.artifact.commit import commit
from strobe.home import Home

home, (who, kind), (count, size) = Home(Path(sys.argv[1])), sys.argv[2:4], map(int, sys.argv[4:6])
print("ready", flush=True)
sys.stdin.readline()
for number in range(count):
    artifact = Artifact("shared", kind)
    for part in range(3):
        with artifact.new_file(f"{part}.bin", "wb") as file:
            file.write(f"{who} {number} {part} ".encode() * size)
    artifact.aliases = [who]
    try:
        commit(artifact, home, "local", "proj", run=f"local/proj/{who}")
    except Exception as exc:
        print(f"refused {exc}", flush=True)
    else:
        print(artifact.version, flush=True)
"""


def _start(home: Home, who: str, count: int, size: int = 1, kind: str = "dataset") -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", _LOGGER, str(home.path), who, kind, str(count), str(size)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(_ROOT / "src")},
    )


def _go(processes: list[subprocess.Popen[str]]) -> list[list[str]]:
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    outputs = [process.communicate()[0].split("\n")[:-1] for process in processes]
    assert [process.returncode for process in processes] == [0] * len(processes)
    return outputs


def _check_all(home: Home, root: Path) -> list[str]:
    """Download and verify every version; return who logged each, oldest first."""
    found = store.versions(home, None, "proj/shared")
    for artifact in found:
        artifact.download(root / artifact.version)
        artifact.verify(root / artifact.version)
        first = (root / artifact.version / "0.bin").read_text().split()[0]
        logger = artifact.logged_by()
        assert logger is not None
        assert logger.id == first
    return [artifact.version for artifact in reversed(found)]


def test_processes_logging_one_name_get_distinct_versions(home: Home, tmp_path: Path) -> None:
    outputs = _go([_start(home, f"p{number}", 20) for number in range(4)])
    versions = [version for output in outputs for version in output]
    assert sorted(versions, key=lambda version: int(version[1:])) == [f"v{number}" for number in range(80)]
    assert _check_all(home, tmp_path / "out") == [f"v{number}" for number in range(80)]
    for number, output in enumerate(outputs):
        assert store.find(home, f"proj/shared:p{number}").version == output[-1]
    assert store.find(home, "proj/shared").version == "v79"


def test_processes_that_disagree_on_the_type_are_told(home: Home) -> None:
    outputs = _go([_start(home, f"p{number}", 3, kind=f"type{number}") for number in range(4)])
    winners = [output for output in outputs if not output[0].startswith("refused")]
    assert len(winners) == 1
    kind = store.find(home, "proj/shared").type
    for output in outputs:
        assert output in winners or all(f"has type {kind!r} already" in line for line in output)


def test_a_kill_at_any_moment_leaves_only_whole_versions(home: Home, tmp_path: Path) -> None:
    rng = random.Random(7)
    acknowledged: list[str] = []
    for attempt in range(12):
        process = _start(home, f"k{attempt}", 10_000, size=20_000)
        assert process.stdout is not None
        assert process.stdin is not None
        assert process.stdout.readline() == "ready\n"
        process.stdin.write("go\n")
        process.stdin.flush()
        time.sleep(rng.uniform(0.0, 0.12))
        process.send_signal(signal.SIGKILL)
        rest = process.communicate()[0]
        acknowledged += [line for line in rest.split("\n")[:-1] if line]
    present = _check_all(home, tmp_path / "out")
    assert set(acknowledged) <= set(present)
    assert len(present) - len(acknowledged) <= 12, "at most the one each process was logging"
    numbers = [int(version[1:]) for version in present]
    assert numbers == list(range(len(numbers)))
    store.gc(home, grace_s=-1)
    _check_all(home, tmp_path / "again")
    assert not [path for path in (home.artifacts / "staging").iterdir() if path.is_dir()]
    assert not list(home.artifacts.rglob(".new-*"))
