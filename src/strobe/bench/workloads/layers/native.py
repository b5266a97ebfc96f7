"""Kernels in C beside their Python, compiled for this very machine when a workload is compiled.

Nothing is kept between processes: a kernel is one short file and takes a second. Torch is imported first, so that both
share one OpenMP and its threads.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from functools import cache
from itertools import zip_longest
from pathlib import Path

import torch
from torch import nn

from strobe.bench.workload import NotHere
from strobe.errors import Error

#: sums may be reordered; not by -ffast-math, with which a library switches subnormal numbers off for its whole process
_REORDER = ("-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math", "-fno-math-errno")
_FLAGS = ("-O3", "-march=native", *_REORDER, "-fopenmp", "-shared", "-fPIC")


@cache
def load_kernels(name: str) -> ctypes.CDLL:
    """Compile `name`.c of this package and load it.

    Raises NotHere without a compiler that knows OpenMP, on a processor that lacks AVX2, or where nothing in TMPDIR can
    be executed.
    """
    source = Path(__file__).with_name(f"{name}.c")
    compiler = shutil.which(os.environ.get("CC", "cc")) or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        raise NotHere(f"{source.name} must be compiled, and there is no C compiler: install gcc, or set CC to one")
    with tempfile.TemporaryDirectory(prefix="strobe-native-") as directory:
        library = Path(directory, f"{name}.so")
        failure = _compile(compiler, source, library)
        if failure:
            if "AVX" not in torch.backends.cpu.get_cpu_capability():
                raise NotHere(f"{source.name} is written for processors with AVX2, which this one lacks")
            if lack := _compile(compiler, _nothing_in(directory), library):
                raise NotHere(
                    f"{compiler} cannot compile {source.name}, nor anything else with OpenMP: {lack}; install gcc, or "
                    "set CC to another"
                )
            raise Error(f"{compiler} cannot compile {source.name}: {failure}")
        try:
            return ctypes.CDLL(str(library))
        except OSError as exc:
            raise NotHere(
                f"{source.name} cannot be loaded from {directory} ({exc}); if that is on a file system without exec, "
                "set TMPDIR to another"
            ) from exc


def _compile(compiler: str, source: Path, library: Path) -> str:
    """Return what the compiler says against it; nothing when the library is there."""
    result = subprocess.run(
        [compiler, *_FLAGS, str(source), "-o", str(library), "-lm"], capture_output=True, text=True, check=False
    )
    return "" if not result.returncode else " ".join(result.stderr.split())[:300] or "it said nothing"


def _nothing_in(directory: str) -> Path:
    """Return a source that needs nothing but what every kernel does."""
    source = Path(directory, "nothing.c")
    source.write_text("#include <omp.h>\nint threads(void) { return omp_get_max_threads(); }\n")
    return source


def address(tensor: torch.Tensor) -> ctypes.c_void_p:
    """Give where a tensor's values lie, for a call into C; it must be contiguous and outlive the call."""
    return ctypes.c_void_p(tensor.data_ptr())


def replace_linears(model: nn.Module, replace: Callable[[nn.Linear, bool], nn.Module]) -> nn.Module:
    """Replace all linear layers, in place; in a `Sequential`, a ReLU behind one is told to it and becomes nothing."""
    for parent in list(model.modules()):
        names = list(parent._modules)
        for name, following in zip_longest(names, names[1:]):
            layer = parent._modules[name]
            if not isinstance(layer, nn.Linear):
                continue
            has_relu = isinstance(parent, nn.Sequential) and isinstance(parent._modules.get(following), nn.ReLU)
            parent._modules[name] = replace(layer, has_relu)
            if has_relu:
                parent._modules[following] = nn.Identity()
    return model
