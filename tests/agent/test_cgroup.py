"""Limits of control groups, from a stand-in for /proc and /sys/fs/cgroup."""

from __future__ import annotations

from pathlib import Path

import pytest

from strobe.agent.cgroup import cpu_quota, free_bytes, read_memory, throttled_s

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


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"cg/job/cpu.max": "150000 100000\n", "cg/job/step/cpu.max": "max 100000\n"}, 1.5),
        ({"cg/job/cpu.max": "400000 100000\n", "cg/job/step/cpu.max": "50000 100000\n"}, 0.5),
        ({"cg/cpu.max": "200000 100000\n"}, 2.0),
        ({"cg/job/cpu.max": "max 100000\n"}, None),
        ({}, None),
    ],
)
def test_the_tightest_cpu_quota_counts(files: dict[str, str], expected: float | None, tmp_path: Path) -> None:
    _write(tmp_path, {"proc/7/cgroup": "0::/job/step\n", **files})
    assert cpu_quota(7, proc=tmp_path / "proc", mount=tmp_path / "cg") == expected


@pytest.mark.parametrize(("quota", "expected"), [("250000", 2.5), ("-1", None)])
def test_the_cpu_quota_of_version_1(quota: str, expected: float | None, tmp_path: Path) -> None:
    files = {"cg/cpu/x/cpu.cfs_quota_us": f"{quota}\n", "cg/cpu/x/cpu.cfs_period_us": "100000\n"}
    _write(tmp_path, {"proc/7/cgroup": "5:cpu,cpuacct:/x\n4:memory:/x\n0::/\n", **files})
    assert cpu_quota(7, proc=tmp_path / "proc", mount=tmp_path / "cg") == expected


@pytest.mark.parametrize(
    ("groups", "files", "expected"),
    [
        ("0::/\n", {"cg/cpu.stat": "usage_usec 9\nnr_throttled 3\nthrottled_usec 1500000\n"}, 1.5),
        ("1:cpu:/x\n", {"cg/cpu/x/cpu.stat": "nr_throttled 3\nthrottled_time 2500000000\n"}, 2.5),
        ("0::/\n", {"cg/cpu.stat": "usage_usec 9\n"}, 0.0),
        ("", {}, 0.0),
    ],
)
def test_how_long_a_quota_held_cpus_back(groups: str, files: dict[str, str], expected: float, tmp_path: Path) -> None:
    _write(tmp_path, {"proc/7/cgroup": groups, **files})
    assert throttled_s(7, proc=tmp_path / "proc", mount=tmp_path / "cg") == expected
