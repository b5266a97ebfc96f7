"""Memory limits of control groups, from a stand-in for /proc and /sys/fs/cgroup."""

from __future__ import annotations

from pathlib import Path

import pytest

from strobe.agent.cgroup import free_bytes, read_memory

_MB = 1 << 20


def _write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def _read(root: Path) -> dict[str, float]:
    return read_memory(7, proc=root / "proc", mount=root / "cg")


def test_the_tightest_limit_above_the_process_counts(tmp_path: Path) -> None:
    _write(
        tmp_path,
        {
            "proc/7/cgroup": "0::/job/step\n",
            "cg/job/step/memory.max": "max\n",
            "cg/job/step/memory.current": f"{90 * _MB}\n",
            "cg/job/memory.max": f"{200 * _MB}\n",
            "cg/job/memory.current": f"{110 * _MB}\n",
            "cg/job/memory.stat": f"anon 1\ninactive_file {10 * _MB}\n",
            "cg/memory.max": f"{500 * _MB}\n",
            "cg/memory.current": f"{300 * _MB}\n",
        },
    )
    assert _read(tmp_path) == {
        "system.cgroup.memory_percent": 50.0,
        "system.cgroup.memory.usedMB": 100.0,
        "system.cgroup.memory.limitMB": 200.0,
    }


@pytest.mark.parametrize("path", ["/", "/../../elsewhere", "/docker/not-mounted-here"])
def test_inside_a_container_the_root_is_the_group(path: str, tmp_path: Path) -> None:
    _write(
        tmp_path,
        {
            "proc/7/cgroup": f"0::{path}\n",
            "cg/memory.max": f"{100 * _MB}\n",
            "cg/memory.current": f"{25 * _MB}\n",
        },
    )
    assert _read(tmp_path)["system.cgroup.memory_percent"] == 25.0


def test_version_1(tmp_path: Path) -> None:
    _write(
        tmp_path,
        {
            "proc/7/cgroup": "5:cpu,cpuacct:/x\n4:memory:/x\n0::/\n",
            "cg/memory/x/memory.limit_in_bytes": f"{100 * _MB}\n",
            "cg/memory/x/memory.usage_in_bytes": f"{60 * _MB}\n",
            "cg/memory/x/memory.stat": f"inactive_file 1\ntotal_inactive_file {10 * _MB}\n",
            "cg/memory/memory.limit_in_bytes": "9223372036854771712\n",
            "cg/memory/memory.usage_in_bytes": "1\n",
        },
    )
    assert _read(tmp_path)["system.cgroup.memory_percent"] == 50.0


def test_no_limit_no_figure(tmp_path: Path) -> None:
    _write(tmp_path, {"proc/7/cgroup": "0::/\n", "cg/memory.max": "max\n", "cg/memory.current": "5\n"})
    assert _read(tmp_path) == {}
    assert read_memory(8, proc=tmp_path / "proc", mount=tmp_path / "cg") == {}


def test_free_is_what_the_fullest_group_above_has_left(tmp_path: Path) -> None:
    _write(
        tmp_path,
        {
            "proc/7/cgroup": "0::/job/step\n",
            "cg/job/step/memory.max": f"{100 * _MB}\n",
            "cg/job/step/memory.current": f"{20 * _MB}\n",
            "cg/job/memory.max": f"{200 * _MB}\n",
            "cg/job/memory.current": f"{190 * _MB}\n",
            "cg/job/memory.stat": f"inactive_file {5 * _MB}\n",
        },
    )
    assert free_bytes(7, proc=tmp_path / "proc", mount=tmp_path / "cg") == 15 * _MB
    assert free_bytes(8, proc=tmp_path / "proc", mount=tmp_path / "cg") is None
