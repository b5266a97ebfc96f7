"""Facts about the machine: CPU, memory, disk, kernel, GPUs. Each is left out where it cannot be told."""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import suppress
from typing import Any

from strobe.environment.execute import Failed, execute
from strobe.environment.processor import cpu_model

_SMI_FIELDS = "name,memory.total,uuid,driver_version"


def describe_machine(cwd: str, problems: list[str], deadline: float) -> dict[str, Any]:
    """Return the host facts of docs/environment.md."""
    facts: dict[str, Any] = {
        "cpu_model": cpu_model(deadline),
        "memory_total_bytes": _memory_total(),
        "memory_limit_bytes": _memory_limit(),
        "kernel": _kernel(),
    }
    with suppress(OSError):
        usage = shutil.disk_usage(cwd)
        facts |= {"disk_total_bytes": usage.total, "disk_free_bytes": usage.free}
    return facts | _describe_gpus(problems, deadline)


def _memory_total() -> int | None:
    with suppress(ValueError, OSError, AttributeError):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    with suppress(ImportError):
        import psutil

        return int(psutil.virtual_memory().total)
    return None


def _memory_limit() -> int | None:
    """Return the control group's limit, where there is one below the machine's memory."""
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        with suppress(OSError, ValueError), open(path) as file:
            limit = int(file.read(64))
            return limit if limit < (_memory_total() or 0) else None
    return None


def _kernel() -> str | None:
    if sys.platform == "win32":
        return None
    system = os.uname()
    return f"{system.sysname} {system.release} {system.version}"


def _describe_gpus(problems: list[str], deadline: float) -> dict[str, Any]:
    found = _ask_nvml(problems)
    if found is None and (program := shutil.which("nvidia-smi")):
        found = _ask_smi(program, problems, deadline)
    return found or {}


def _ask_nvml(problems: list[str]) -> dict[str, Any] | None:
    try:
        import pynvml
    except ImportError:
        return None
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        # No driver and no library are the normal state of a machine without GPUs.
        if error.value not in (pynvml.NVML_ERROR_DRIVER_NOT_LOADED, pynvml.NVML_ERROR_LIBRARY_NOT_FOUND):
            problems.append(f"nvml: {error}")
        return None
    try:
        handles = [pynvml.nvmlDeviceGetHandleByIndex(index) for index in range(pynvml.nvmlDeviceGetCount())]
        cuda = pynvml.nvmlSystemGetCudaDriverVersion_v2()
        return {
            "gpus": [
                {
                    "name": _decode(pynvml.nvmlDeviceGetName(handle)),
                    "memory_bytes": int(pynvml.nvmlDeviceGetMemoryInfo(handle).total),
                    "uuid": _decode(pynvml.nvmlDeviceGetUUID(handle)),
                }
                for handle in handles
            ],
            "gpu_driver": _decode(pynvml.nvmlSystemGetDriverVersion()),
            "cuda_version": f"{cuda // 1000}.{cuda % 1000 // 10}",
        }
    except pynvml.NVMLError as error:
        problems.append(f"nvml: {error}")
        return None
    finally:
        with suppress(pynvml.NVMLError):
            pynvml.nvmlShutdown()


def _decode(name: str | bytes) -> str:
    return name.decode("utf-8", "replace") if isinstance(name, bytes) else name


def _ask_smi(program: str, problems: list[str], deadline: float) -> dict[str, Any] | None:
    try:
        table = execute(
            [program, f"--query-gpu={_SMI_FIELDS}", "--format=csv,noheader,nounits"], cwd="/", deadline=deadline
        )
        banner = execute([program], cwd="/", deadline=deadline).text
    except Failed as error:
        problems.append(str(error))
        return None
    gpus: list[dict[str, Any]] = []
    driver = None
    for line in table.text.splitlines():
        fields = [field.strip() for field in line.split(",")]
        if len(fields) == 4:
            name, memory_mib, uuid, driver = fields
            memory = int(memory_mib) << 20 if memory_mib.isdigit() else None
            gpus.append({"name": name, "memory_bytes": memory, "uuid": uuid})
    _, _, rest = banner.partition("CUDA Version:")
    return {"gpus": gpus, "gpu_driver": driver, "cuda_version": rest.split()[0] if rest.split() else None}
