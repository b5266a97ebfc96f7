"""Seals: a hash over everything that a version of a benchmark promises to keep.

That is its specification, the source that draws its data and, out of the box, the model's source: results of one
version are comparable because none of it changes. An Optimized implementation may change as it likes; sealed are the
weights, inputs and reference that it shares with OOTB, in modules named `ootb`. The source is that of modules that are
imported or named by a parameter (`module:factory`), and of the C files that they compile (strobe.bench.source).
`seals.json` keeps what each version was sealed with, part by part, so that a broken seal names the culprit.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from strobe.bench.source import (
    Find,
    Module,
    Place,
    closure,
    essence,
    finder,
    imports,
    names_in_strings,
    without_declarations,
)
from strobe.bench.spec import Benchmark
from strobe.errors import Error

SEALS = Path(__file__).with_name("seals.json")
_SPEC = "specification"
_HERE = Path(__file__).parent
#: where kernels in C are, each loaded by its name (strobe.bench.workloads.layers.native)
_KERNELS = ("workloads", "layers")
_C_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_C_INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
#: choices of what to measure and who answers for it; they change no single result
_UNSEALED = ("owner", "tier", "batch_sizes", "changes", "version")


class Seal(msgspec.Struct, frozen=True):
    """Hashes of the parts of one benchmark at one version."""

    version: int
    parts: dict[str, str]

    @property
    def text(self) -> str:
        """The one hash over all parts, which records carry."""
        return _joined(self.parts)

    @property
    def text_of_specification(self) -> str:
        """What records carry of a benchmark that promises nothing about its code."""
        return _joined({_SPEC: self.parts[_SPEC]})


def _joined(parts: Mapping[str, str]) -> str:
    return _hash("\n".join(f"{name} {parts[name]}" for name in sorted(parts)))


@dataclass(frozen=True, slots=True)
class Broken:
    """A benchmark that changed although its version did not."""

    key: str
    version: int
    changed: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.key} version {self.version}: {', '.join(self.changed)} changed"


def make_seal(benchmark: Benchmark) -> Seal:
    """Hash the parts of a benchmark as they are now."""
    parts = {_SPEC: _hash(json.dumps(_specification(benchmark), sort_keys=True))}
    main, find = finder(benchmark.module, _suite())
    named = _named_modules(benchmark.parameters, find)
    if benchmark.implementation == "Optimized":
        needed = (one for each in (main, *named) for one in imports(each, find))
        roots = [one for one in needed if one.dotted.rpartition(".")[2] == "ootb"]
    else:
        roots = [without_declarations(main, benchmark.factory), *named]
    for one in closure(roots, find):
        parts[one.name] = _hash(essence(one.text))
        parts.update({kernel: _hash_of_kernel(kernel) for kernel in _kernels(one.text)})
    return Seal(benchmark.version, parts)


def read_seals(path: Path = SEALS) -> dict[str, Seal]:
    """Return the seals of a file by key; none if there is no file."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Seal])
    except (FileNotFoundError, NotADirectoryError):  # the latter beside what is imported from an archive
        return {}
    except msgspec.DecodeError as exc:
        raise Error(f"{path}: not a file of seals ({exc}); take it from version control again") from exc


def seals_beside(path: Path) -> Path:
    """Return where the seals of a file of one's own are kept."""
    return path.with_suffix(".seals.json")


def write_seals(seals: Mapping[str, Seal], path: Path = SEALS) -> None:
    """Write seals, one benchmark a line, so that a change of one is a change of one line."""
    lines = [f"{json.dumps(key)}: {msgspec.json.encode(seals[key]).decode()}" for key in sorted(seals)]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def find_broken(benchmarks: Iterable[Benchmark], seals: Mapping[str, Seal]) -> list[Broken]:
    """Return the benchmarks whose version is sealed with something else than they are now."""
    broken = []
    for benchmark in benchmarks:
        kept = seals.get(benchmark.key)
        if kept is None or kept.version != benchmark.version:
            continue
        now = make_seal(benchmark).parts
        if changed := sorted(name for name in {*kept.parts, *now} if kept.parts.get(name) != now.get(name)):
            broken.append(Broken(benchmark.key, benchmark.version, tuple(changed)))
    return broken


def find_unsealed(benchmarks: Iterable[Benchmark], seals: Mapping[str, Seal]) -> list[Benchmark]:
    """Return the benchmarks whose version has no seal yet."""
    return [one for one in benchmarks if (kept := seals.get(one.key)) is None or kept.version != one.version]


def _specification(benchmark: Benchmark) -> dict[str, Any]:
    facts: dict[str, Any] = {
        name: getattr(benchmark, name) for name in benchmark.__dataclass_fields__ if name not in _UNSEALED
    }
    facts["parameters"] = dict(benchmark.parameters)
    if benchmark.latency is not None:
        facts["latency"] = [benchmark.latency.limit_ms, benchmark.latency.percentile]
    if benchmark.file:  # the same file elsewhere is the same benchmark
        facts["workload"] = f"{benchmark.file.name}:{benchmark.factory}"
    return facts


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


# -- sources -----------------------------------------------------------------------------------------------------------


def _suite() -> Place:
    # A package's __init__ says what it is for and holds nothing.
    return Place("strobe.bench.workloads", (_HERE / "workloads",), has_inits=False)


def _named_modules(parameters: Mapping[str, Any], find: Find) -> list[Module]:
    """Return the modules that parameters name as `module:factory`, which no import shows."""
    names = [value.rpartition(":")[0] for value in parameters.values() if isinstance(value, str)]
    return [found for name in names if name and (found := find(name)) is not None]


def _kernels(text: str) -> frozenset[str]:
    """Return the C files that a source compiles, and what lies beside them that they include.

    A text in it that is the name of one is how it asks for it.
    """
    files = [f"{name}.c" for name in names_in_strings(text) if _kernel_path(f"{name}.c").is_file()]
    for file in files:  # grows on the way
        included = _C_INCLUDE.findall(_kernel_path(file).read_text(encoding="utf-8"))
        files += [name for name in included if name not in files]
    return frozenset(files)


def _kernel_path(name: str) -> Path:
    return _HERE.joinpath(*_KERNELS, name)


def _hash_of_kernel(name: str) -> str:
    source = _C_COMMENT.sub(" ", _kernel_path(name).read_text(encoding="utf-8"))
    return _hash("\n".join(line.rstrip() for line in source.splitlines() if line.strip()))
