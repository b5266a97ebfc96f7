"""Seals: a hash over everything that a version of a benchmark promises to keep.

That is its specification, the source that draws its data and, out of the box, the model's source: results of one
version are comparable because none of it changes. An Optimized implementation may change as it likes; sealed are the
weights, inputs and reference that it shares with OOTB. Sources are read, never imported: modules that are imported or
named by a parameter (`module:factory`), and the C files that modules compile. Comments and docstrings do not count.
`seals.json` keeps what each version was sealed with, part by part, so that a broken seal names the culprit.
"""

from __future__ import annotations

import ast
import hashlib
import io
import json
import re
import tokenize
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec

from strobe.bench.spec import Benchmark
from strobe.bench.user_file import is_file_name
from strobe.errors import Error

SEALS = Path(__file__).with_name("seals.json")
_SPEC = "specification"
_WORKLOADS = "strobe.bench.workloads."
_HERE = Path(__file__).parent
#: where kernels in C are, each loaded by its name (strobe.bench.workloads.layers.native)
_KERNELS = ("workloads", "layers")
_C_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
#: choices of what to measure and who answers for it; they change no single result
_UNSEALED = ("owner", "tier", "batch_sizes", "changes", "version")


class Seal(msgspec.Struct, frozen=True):
    """Hashes of the parts of one benchmark at one version."""

    version: int
    parts: dict[str, str]

    @property
    def text(self) -> str:
        """The one hash over all parts, which records carry."""
        return _hash("\n".join(f"{name} {self.parts[name]}" for name in sorted(self.parts)))


@dataclass(frozen=True, slots=True)
class Broken:
    """A benchmark that changed although its version did not."""

    key: str
    version: int
    changed: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"{self.key} version {self.version}: {', '.join(self.changed)} changed; "
            "raise its version and `strobe bench check --update`, or take the change back"
        )


def make_seal(benchmark: Benchmark) -> Seal:
    """Hash the parts of a benchmark as they are now."""
    parts = {_SPEC: _hash(json.dumps(_specification(benchmark), sort_keys=True))}
    module = benchmark.workload.rpartition(":")[0]
    if is_file_name(module):
        parts[Path(module).name] = _hash(_essence(Path(module)))
        return Seal(benchmark.version, parts)
    roots = {module, *_named_modules(benchmark.parameters)}
    if benchmark.implementation == "Optimized":
        roots = {name for root in roots for name in _imports(root) if name.endswith(".ootb")}
    for root in roots:
        for name in _closure(root):
            parts[name] = _hash_of(name)
            parts.update({kernel: _hash_of_kernel(kernel) for kernel in _kernels(name)})
    return Seal(benchmark.version, parts)


def read_seals(path: Path = SEALS) -> dict[str, Seal]:
    """Return the seals of a file by key; none if there is no file."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Seal])
    except FileNotFoundError:
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
    module, _, factory = benchmark.workload.rpartition(":")
    if is_file_name(module):  # the same file elsewhere is the same benchmark
        facts["workload"] = f"{Path(module).name}:{factory}"
    return facts


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


# -- sources -----------------------------------------------------------------------------------------------------------


@cache
def _hash_of(module: str) -> str:
    return _hash(_essence(_file_of(module)))


@cache
def _closure(module: str) -> frozenset[str]:
    """Return the module and all workload modules that it needs, however indirectly."""
    found, open_ = {module}, [module]
    while open_:
        for name in _imports(open_.pop()) - found:
            found.add(name)
            open_.append(name)
    return frozenset(found)


@cache
def _imports(module: str) -> frozenset[str]:
    """Return the workload modules that a module imports; the harness is not part of a benchmark."""
    path = _file_of(module)
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    # A package's __init__ says what it is for and holds nothing.
    return frozenset(name for name in names if name.startswith(_WORKLOADS) and _is_module(name))


def _named_modules(parameters: Mapping[str, Any]) -> set[str]:
    """Return the workload modules that parameters name as `module:factory`, which no import shows."""
    texts = [value for value in parameters.values() if isinstance(value, str) and value.startswith(_WORKLOADS)]
    return {module for module, colon, _ in (text.rpartition(":") for text in texts) if colon}


@cache
def _kernels(module: str) -> frozenset[str]:
    """Return the C files that a module compiles: a text in it that is the name of one is how it asks for it."""
    tree = ast.parse(_file_of(module).read_bytes())
    texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return frozenset(f"{text}.c" for text in texts if text.isidentifier() and _kernel_path(f"{text}.c").is_file())


def _kernel_path(name: str) -> Path:
    return _HERE.joinpath(*_KERNELS, name)


@cache
def _hash_of_kernel(name: str) -> str:
    source = _C_COMMENT.sub(" ", _kernel_path(name).read_text(encoding="utf-8"))
    return _hash("\n".join(line.rstrip() for line in source.splitlines() if line.strip()))


def _is_module(name: str) -> bool:
    return _path_of(name).is_file()


def _path_of(module: str) -> Path:
    return _HERE.joinpath(*module.removeprefix("strobe.bench.").split(".")).with_suffix(".py")


def _file_of(module: str) -> Path:
    if module.startswith(_WORKLOADS):
        return _path_of(module)
    spec = find_spec(module)
    if spec is None or not spec.origin:
        raise Error(f"no module {module!r} that could be sealed; is the package that offers it installed?")
    return Path(spec.origin)


def _essence(path: Path) -> str:
    """Return the source without comments, docstrings and empty lines: the same on every version of Python."""
    source = path.read_text(encoding="utf-8")
    lines = source.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                for row in range(first.lineno - 1, first.end_lineno or first.lineno):
                    lines[row] = ""
    return "\n".join(line.rstrip() for line in lines if line.strip())
