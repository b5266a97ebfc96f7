"""What a benchmark is: Model + Implementation + Mode + Configuration, declared once and never changed in silence.

A `Benchmark` is a value. It names the workload as text (`module:factory`), so that listing and comparing benchmarks
imports no framework; `load_workload` imports it, and only a worker calls that.
"""

from __future__ import annotations

import importlib
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import takewhile
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any, Literal, get_args

from strobe.bench.user_file import is_file_name, load_user_file
from strobe.bench.workload import Workload
from strobe.errors import Error

Implementation = Literal["OOTB", "Optimized", "Micro"]
Units = Literal["ex/s", "TF/s", "GB/s"]
Tier = Literal["smoke", "ci", "full"]

_PRECISION = re.compile(r"(?:^|-)(int8|fp16|bf16|tf32|fp32)(?=-|$)")
_PRECISIONS = re.compile(r"(-(fp32|fp16|tf32|bf16|int8|int4|embed\d+))+$")


@dataclass(frozen=True, slots=True)
class Latency:
    """`percentile` of the steps must take at most `limit_ms`."""

    limit_ms: float
    percentile: float

    def __post_init__(self) -> None:
        if not (0 < self.limit_ms < math.inf and 0 < self.percentile < 100):
            raise Error(f"a latency limit is finite and above 0, its percentile between 0 and 100, got {self}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark:
    """One row of the suite, measured at several batch sizes."""

    model: str
    implementation: Implementation
    mode: str
    config: str
    version: int
    owner: str
    units: Units
    batch_sizes: tuple[int, ...]
    max_batch: int
    tier: Tier
    #: "module:factory", or "path/of/file.py:factory"; the factory takes `parameters` and `tolerance` as keywords and
    #: returns a Workload
    workload: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    latency: Latency | None = None
    #: greatest error, relative to the spread of the output, that counts as correct
    tolerance: float = 1e-3
    #: what an Optimized implementation does otherwise than OOTB
    changes: tuple[str, ...] = ()
    #: processes per node, each with a device of its own; with several, all are joined as torchrun does
    devices: int = 1
    nodes: int = 1

    def __post_init__(self) -> None:
        if (self.implementation == "Optimized") != bool(self.changes):
            raise Error(f"{self.key}: an Optimized benchmark lists its changes, any other has none: {self.changes}")
        for name, choices in (("implementation", Implementation), ("units", Units), ("tier", Tier)):
            if getattr(self, name) not in get_args(choices):
                known = ", ".join(get_args(choices))
                raise Error(f"{self.key}: {name} must be one of {known}, got {getattr(self, name)!r}")
        for name in ("version", "max_batch", "devices", "nodes"):
            if getattr(self, name) < 1:
                raise Error(f"{self.key}: {name} must be 1 or more, got {getattr(self, name)}")
        if not self.batch_sizes or not all(1 <= size <= self.max_batch for size in self.batch_sizes):
            raise Error(
                f"{self.key}: batch_sizes must be numbers from 1 to max_batch, {self.max_batch}, got {self.batch_sizes}"
            )
        if not 0 <= self.tolerance < math.inf:
            raise Error(f"{self.key}: the tolerance must be a finite number, 0 or more, got {self.tolerance}")
        object.__setattr__(self, "parameters", MappingProxyType(dict(self.parameters)))

    @property
    def key(self) -> str:
        """Path of the benchmark, such as `dlrm/ootb/inference/A.1dev-embed4-fp32`."""
        return "/".join((_slug(self.model), self.implementation.lower(), _slug(self.mode), self.config))

    @property
    def module(self) -> str:
        """What holds its workload: the dotted name of a module, or the path of a file."""
        return self.workload.rpartition(":")[0]

    @property
    def factory(self) -> str:
        """What makes its workload, in the module."""
        return self.workload.rpartition(":")[2]

    @property
    def file(self) -> Path | None:
        """The file that holds its workload, if it is named by its path."""
        return Path(self.module) if is_file_name(self.module) else None

    @property
    def precision(self) -> str:
        """What its products are in: as a parameter says, else its name, else fp32."""
        return str(self.parameters.get("precision") or precision_of(self.config))

    @property
    def needs_cuda(self) -> bool:
        """Whether only CUDA can do it: tf32 is how its tensor cores multiply."""
        return self.parameters.get("precision") == "tf32"


def precision_of(config: str) -> str:
    """Return the precision that a configuration's name ends with, fp32 if it names none."""
    found = _PRECISION.findall(config)
    return found[-1] if found else "fp32"


def without_precision(config: str) -> str:
    """Return a configuration's name without the number formats at its end: what it computes, not how exactly."""
    return _PRECISIONS.sub("", config)


def likeness(config: str, wanted: str) -> tuple[int, bool]:
    """Rank configurations of a task by how well they stand beside another one: the same precision, else fp32.

    fp32 is how a model is written before anybody makes it fast; where a name has no precision, that is meant.
    """
    words = config.split("-")
    alike = takewhile(lambda both: both[0] == both[1], zip(words, wanted.split("-"), strict=False))
    return len(list(alike)), words[-1] == "fp32" or without_precision(config) == config


def is_builtin(benchmark: Benchmark) -> bool:
    """Whether it belongs to the suite itself, rather than to a user's file or package."""
    return benchmark.workload.startswith("strobe.bench.workloads.")


def is_named(key: str, word: str) -> bool:
    """Whether a word names a key: all of it, its beginning (`dlrm/ootb`, a file of tests) or a glob, in any case."""
    key, word = key.lower(), word.lower().rstrip("/")
    return key == word or key.startswith((f"{word}/", f"{word}::")) or fnmatchcase(key, word)


def _slug(name: str) -> str:
    return name.lower().replace(" ", "-").replace("/", "-")


def load_workload(benchmark: Benchmark) -> Workload:
    """Import and call the workload's factory; raises strobe.Error for a name that is not there."""
    try:
        factory = getattr(_import(benchmark), benchmark.factory)
    except (ImportError, AttributeError) as exc:
        lacks_torch = isinstance(exc, ImportError) and (exc.name or "").partition(".")[0] == "torch"
        remedy = "; torch comes with pip install 'strobe[bench]'" if lacks_torch else ""
        raise Error(f"{benchmark.key}: no workload {benchmark.workload!r} ({exc}){remedy}") from exc
    workload: Workload = factory(**benchmark.parameters, tolerance=benchmark.tolerance)
    return workload


def _import(benchmark: Benchmark) -> ModuleType:
    return load_user_file(benchmark.file) if benchmark.file else importlib.import_module(benchmark.module)
