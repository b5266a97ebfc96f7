"""The software that a worker measures with: versions, how torch was built, and the switches that are set."""

from __future__ import annotations

import hashlib
import os
import sys
from importlib.metadata import PackageNotFoundError, version

_PACKAGES = ("torch", "numpy", "triton")
#: environment variables that change what is measured
_SWITCHES = ("OMP_", "MKL_", "KMP_", "GOMP_", "OPENBLAS_", "TORCH", "ONEDNN_", "DNNL_", "CUDA_", "NCCL_", "GLOO_")
#: parts of the way to the measurement, not of how it is made
_IGNORED = ("CUDA_VISIBLE_DEVICES", "TORCHINDUCTOR_CACHE_DIR", "TORCH_HOME")


def describe(threads: int) -> dict[str, str]:
    """Describe this process; asks torch only if a workload has imported it."""
    found = {"threads": str(threads)}
    for name in _PACKAGES:
        if name in sys.modules:
            try:
                found[name] = version(name)
            except PackageNotFoundError:
                found[name] = str(getattr(sys.modules[name], "__version__", "unknown"))
    for name, value in os.environ.items():
        if name.startswith(_SWITCHES) and name not in _IGNORED:
            found[name] = value
    if (torch := sys.modules.get("torch")) is not None:
        build = torch.__config__.show()
        found["torch_build"] = hashlib.sha256(build.encode()).hexdigest()[:12]
        found["compiler"] = next(
            (line.strip(" -") for line in build.splitlines() if "GCC" in line or "clang" in line), ""
        )
        if torch.version.cuda:
            found["cuda"] = str(torch.version.cuda)
    return {name: value for name, value in found.items() if value}
