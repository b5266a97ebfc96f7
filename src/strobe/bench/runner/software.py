"""The software that a worker measures with: versions, how torch was built, the C compiler, switches that are set.

Only workers ask for all of it, when they have measured: listing and comparing read what they found.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from strobe.environment.redact import redact

_PACKAGES = ("torch", "numpy", "triton")
#: environment variables that change what is measured
_SWITCHES = (
    *("OMP_", "MKL_", "KMP_", "GOMP_", "OPENBLAS_", "ONEDNN_", "DNNL_", "NCCL_", "GLOO_"),
    *("TORCH", "PYTORCH_", "ATEN_", "CUDA_", "NVIDIA_", "HIP_", "ROCR_"),
    *("MALLOC_", "GLIBC_TUNABLES", "LD_PRELOAD"),
)
#: those by which libraries are told their number of threads
_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")
#: parts of the way to the measurement, not of how it is made; which card it was is the hardware's to say
_IGNORED = ("_VISIBLE_DEVICES", "TORCHINDUCTOR_CACHE_DIR", "TORCH_HOME", "PYTORCH_KERNEL_CACHE_PATH")
#: a compiler that does not answer within it is not named
_COMPILER_LIMIT_S = 30.0


def describe(threads: int) -> dict[str, str]:
    """Describe this process; asks torch only if a workload has imported it."""
    found = {"threads": str(threads)}
    for name in _PACKAGES:
        if name in sys.modules:
            found[name] = version_of(name)
    found.update(switches(os.environ))
    if (torch := sys.modules.get("torch")) is not None:
        build = torch.__config__.show()
        found["torch_build"] = hashlib.sha256(build.encode()).hexdigest()[:12]
        found["compiler"] = next(
            (line.strip(" -") for line in build.splitlines() if "GCC" in line or "clang" in line), ""
        )
        if torch.version.cuda:
            found["cuda"] = str(torch.version.cuda)
        if torch.version.hip:
            found["hip"] = str(torch.version.hip)
        if number := torch.backends.cudnn.version():
            found["cudnn"] = str(number)
    # Whether or not this workload has kernels in C: what rows of one session say must not differ for that.
    found["c_compiler"] = compiler_name()
    return {name: value for name, value in found.items() if value}


def version_of(package: str) -> str:
    """Return the version that is installed; of one that no installer knows, what it says itself if it is imported."""
    try:
        return version(package)
    except PackageNotFoundError:
        return str(getattr(sys.modules.get(package), "__version__", "unknown"))


def switches(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that change what is measured; a secret, such as NVIDIA_API_KEY, is none."""
    found = {
        name: value for name, value in environment.items() if name.startswith(_SWITCHES) and not name.endswith(_IGNORED)
    }
    shown = redact(found)
    return {name: value for name, value in found.items() if shown[name] == value}


def thread_variables(threads: int) -> dict[str, str]:
    """Return the variables that hold a process which is started with them to so many threads."""
    return dict.fromkeys(_THREADS, str(threads))


def find_compiler() -> str | None:
    """Return the C compiler that our own kernels are built with, None if there is none.

    As strobe.bench.workloads.layers.native looks for it, whose source is sealed: it cannot be made to ask here under
    the versions that its benchmarks have.
    """
    return shutil.which(os.environ.get("CC", "cc")) or shutil.which("gcc") or shutil.which("clang")


def compiler_name() -> str:
    """Return name and version of the C compiler, such as `gcc 12.2.0`: what it is, not the name that it was called by.

    Empty if there is none, or it does not say.
    """
    if (path := find_compiler()) is None:
        return ""
    try:
        done = subprocess.run(
            [path, "--version"],
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            stdin=subprocess.DEVNULL,
            timeout=_COMPILER_LIMIT_S,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    if done.returncode:  # such as macOS's, which only offers to install one
        return ""
    makers = {"clang": "clang", "Free Software Foundation": "gcc"}
    name = next((name for word, name in makers.items() if word in done.stdout), Path(path).name)
    # Who packed it, and with which number, stands in brackets.
    first_line = re.sub(r"\(.*?\)", "", done.stdout.partition("\n")[0])
    number = re.search(r"\d+(\.\d+)+", first_line)
    return f"{name} {number[0]}" if number else name
