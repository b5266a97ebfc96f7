"""Facts about this machine that a benchmark record carries, so that times of two machines are not mixed up.

Reads /proc, /sys and `platform`; a fact that cannot be had is left out rather than guessed. What only the process that
measures knows, such as torch's version, comes from there (`strobe.bench.runner.software`).
"""

from __future__ import annotations

import math
import os
import platform
import re
import subprocess
import time
from collections.abc import Sequence
from datetime import datetime, timezone
from importlib.machinery import EXTENSION_SUFFIXES, SOURCE_SUFFIXES
from pathlib import Path

import msgspec

from strobe.agent import cgroup
from strobe.bench.records import Environment
from strobe.environment.processor import cpu_model, read_cpuinfo
from strobe.environment.repository import find_repository

#: instruction sets that decide which kernels a library takes
_TELLING_FLAGS = ("sse4_2", "avx", "avx2", "fma", "avx512", "avx_vnni", "amx", "asimd", "sve", "bf16", "fp16", "i8mm")
_GIT_LIMIT_S = 5.0
_SYSCTL_LIMIT_S = 5.0
#: how files end that Python imports
_MODULES = (*SOURCE_SUFFIXES, *EXTENSION_SUFFIXES)


def describe(directory: Path | None = None, *, source: Path | None = None) -> Environment:
    """Describe the machine, the file system of `directory`, and the commit of the repository that holds `source`."""
    commit, is_dirty = _describe_commit(source) if source else ("", False)
    hardware = _describe_hardware()
    return Environment(
        hardware=hardware,
        software={"python": platform.python_version(), "os": platform.system(), **_driver(), **_tuning()},
        git_commit=commit,
        is_dirty=is_dirty,
        host=platform.node(),
        os=f"{platform.system()} {platform.release()}",
        cpu=hardware.get("cpu", ""),
        cpu_count=usable_cpus(),
        memory_bytes=_memory_bytes(),
        python=platform.python_version(),
        file_system=_file_system(directory) if directory else "",
        load_average=load_average(),
        started_at=moment(),
    )


def on_cards(environment: Environment, names: Sequence[str]) -> Environment:
    """Return the environment of what runs on these cards: with others, the same machine is another system."""
    if not names:
        return environment
    # Each once: rows of one and of eight devices are of one system.
    accelerator = ", ".join(dict.fromkeys(names))
    return msgspec.structs.replace(
        environment, accelerator=accelerator, hardware={**environment.hardware, "accelerator": accelerator}
    )


def moment() -> str:
    """Return the time as records name their session by it: two sessions may begin in the same second."""
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds")


def usable_cpus() -> int:
    """Return how many CPUs this process may keep busy: those it may run on, or as its container's quota allows."""
    quota = _cpu_quota()
    return _allowed_cpus() if quota is None else math.ceil(quota)


def _allowed_cpus() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 0


def _cpu_quota() -> float | None:
    """Return the quota of this process's control group in CPUs, where it is less than those that it may run on."""
    quota = cgroup.cpu_quota(os.getpid())
    return quota if quota is not None and quota < _allowed_cpus() else None


def load_average() -> float | None:
    """Return the load of the last minute, None on a system that does not count it."""
    try:
        return round(os.getloadavg()[0], 2)
    except (AttributeError, OSError):
        return None


def _memory_bytes() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 0


def _describe_hardware() -> dict[str, str]:
    flags = _cpu_flags()
    found = {
        "cpu": _cpu_model(),
        "architecture": platform.machine(),
        "cpus": str(usable_cpus()),
        "cpu_quota": f"{quota:g}" if (quota := _cpu_quota()) is not None else "",
        # Rounded, because kernels of one machine keep more or less of it for themselves.
        "memory_gb": str(round(_memory_bytes() / 2**30)),
        "flags": " ".join(sorted(flag for flag in flags if flag.startswith(_TELLING_FLAGS))),
        "is_virtual": "yes" if "hypervisor" in flags else "",
        **_caches(),
        **_accelerators(),
    }
    return {name: value for name, value in found.items() if value}


def _caches() -> dict[str, str]:
    found = {}
    for place in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        try:
            level, kind, size = ((place / name).read_text().strip() for name in ("level", "type", "size"))
        except OSError:
            continue
        found[f"l{level}_{kind.lower()}"] = size
    return found


def _accelerators() -> dict[str, str]:
    """NVIDIA's driver lists its cards here, without a library."""
    models = []
    for place in sorted(Path("/proc/driver/nvidia/gpus").glob("*/information")):
        lines = place.read_text(encoding="utf-8", errors="replace").splitlines()
        models += [line.partition(":")[2].strip() for line in lines if line.startswith("Model")]
    return {"accelerators": ", ".join(models)}


def _driver(version: Path = Path("/proc/driver/nvidia/version")) -> dict[str, str]:
    """Return the version of NVIDIA's driver, with which results change as with that of any library."""
    try:
        text = version.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return {}
    found = re.search(r"^NVRM version:.*?\s(\d+(?:\.\d+)+)\s", text, re.MULTILINE)
    return {"nvidia_driver": found[1]} if found else {}


def _tuning(root: Path = Path("/sys")) -> dict[str, str]:
    """Return how the system drives its processor and memory: speeds change with it, the machine stays the same."""
    cpus = root / "devices/system/cpu"
    no_turbo, boost = _read(cpus / "intel_pstate/no_turbo"), _read(cpus / "cpufreq/boost")
    huge = re.search(r"\[(\w+)\]", _read(root / "kernel/mm/transparent_hugepage/enabled"))
    found = {
        "cpu_governor": _read(cpus / "cpu0/cpufreq/scaling_governor"),
        "turbo": {"0": "on", "1": "off"}.get(no_turbo) or {"1": "on", "0": "off"}.get(boost, ""),
        "transparent_hugepage": huge[1] if huge else "",
    }
    return {name: value for name, value in found.items() if value}


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def _describe_commit(source: Path) -> tuple[str, bool]:
    """Return the commit, and whether the code may differ from it: files of git that do, or new ones to import."""
    repository = find_repository(str(source if source.is_dir() else source.parent))
    commit = repository.head()[0] if repository else None
    if repository is None or commit is None:
        return "", False
    try:
        state = subprocess.run(
            # Without locks, since somebody may be committing; without quotes around names.
            [
                "git",
                "--no-optional-locks",
                "-C",
                repository.root,
                "status",
                "--porcelain",
                "-z",
                "--untracked-files=all",
            ],
            check=True,
            capture_output=True,
            timeout=_GIT_LIMIT_S,
        )
    except (OSError, subprocess.SubprocessError):
        # Nobody knows: results that claim a commit have to be its own.
        return commit, True
    return commit, any(map(_is_code, os.fsdecode(state.stdout).split("\0")))


def _is_code(change: str) -> bool:
    """Whether a line of `git status` is about code; of new files only modules are, results for instance are not."""
    return bool(change) and (not change.startswith("?? ") or change.endswith(_MODULES))


def _cpu_flags() -> list[str]:
    facts = read_cpuinfo()
    return (facts.get("flags") or facts.get("Features", "")).split()  # the latter is what ARM calls them


def _cpu_model() -> str:
    return cpu_model(time.monotonic() + _SYSCTL_LIMIT_S) or platform.processor()


def _file_system(directory: Path) -> str:
    """Return the type of the file system that holds `directory`: the longest mount point above it."""
    try:
        mounts = Path("/proc/self/mounts").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    place = directory.resolve()
    best, found = -1, ""
    for line in mounts:
        _, point, kind, *_ = line.split(" ")
        mounted = Path(point.replace("\\040", " "))
        if len(mounted.parts) > best and (mounted == place or mounted in place.parents):
            best, found = len(mounted.parts), kind
    return found
