"""What the processor says of itself, and the name that tells it from others."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

from strobe.environment.execute import Failed, execute

CPUINFO = Path("/proc/cpuinfo")
#: what kernels call the name of a processor, by architecture
_NAMES = ("model name", "Processor", "cpu model", "cpu")
#: what tells processors apart on ARM, where Linux knows no names
_NUMBERS = ("CPU implementer", "CPU part", "CPU variant")


def read_cpuinfo(path: Path = CPUINFO) -> dict[str, str]:
    """Return what Linux says of the first CPU; nothing on other systems."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return {}
    found: dict[str, str] = {}
    for line in text.splitlines():
        if not line.strip() and found:
            break
        name, _, value = line.partition(":")
        found[name.strip()] = value.strip()
    return found


def cpu_model(deadline: float, cpuinfo: Path = CPUINFO) -> str | None:
    """Return the name of the processor, None where nothing tells it; `deadline` (monotonic) is for programs to ask."""
    if sys.platform == "darwin":
        with suppress(Failed):
            return execute(["sysctl", "-n", "machdep.cpu.brand_string"], cwd="/", deadline=deadline).text.strip()
    if sys.platform == "win32":
        return os.environ.get("PROCESSOR_IDENTIFIER")
    facts = read_cpuinfo(cpuinfo)
    for name in _NAMES:
        if facts.get(name):
            return facts[name]
    return ", ".join(f"{name} {facts[name]}" for name in _NUMBERS if name in facts) or None
