"""All benchmarks there are: the suite's own, those of installed packages, and those of files named by path.

Looking one up imports declarations only, never a framework. A benchmark is found by its key, a glob over keys, the
beginning of a key (`dlrm`, `dlrm/ootb`) or a tier; tiers contain each other: `ci` is `smoke` and more. What is declared
together keeps its seals in one file, beside the declarations.
"""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from strobe.bench.seal import SEALS, Seal, read_seals, seals_beside
from strobe.bench.spec import Benchmark, Tier, is_named, likeness, without_precision
from strobe.bench.user_file import is_file_name, load_user_file
from strobe.errors import Error, UsageError
from strobe.settings.notice import warn_once

ENTRY_POINTS = "strobe.benchmarks"
TIERS: tuple[Tier, ...] = ("smoke", "ci", "full")


@dataclass(frozen=True, slots=True)
class Collection:
    """Benchmarks that are declared in one place, and the file that keeps their seals."""

    #: the module, or the path, that declares them
    origin: str
    benchmarks: tuple[Benchmark, ...]
    seals: Path


def builtin() -> tuple[Benchmark, ...]:
    """Return the suite's own benchmarks."""
    from strobe.bench.workloads.declared import BENCHMARKS

    return BENCHMARKS


def suite() -> Collection:
    """Return the suite itself."""
    return Collection("strobe", builtin(), SEALS)


def installed() -> tuple[Collection, ...]:
    """Return what installed packages offer under the entry point group `strobe.benchmarks`, module by module."""
    found: dict[str, list[Benchmark]] = {}
    for entry in entry_points(group=ENTRY_POINTS):
        origin = f"entry point {entry.name!r} ({entry.value})"
        try:
            found.setdefault(entry.module, []).extend(_as_benchmarks(entry.load(), origin))
        except (Exception, SystemExit) as exc:  # noqa: BLE001 - anybody's code; named, and the others are still there
            warn_once(origin, f"benchmarks left out: {origin} cannot be loaded: {type(exc).__name__}: {exc}")
    return tuple(Collection(module, tuple(offered), _seals_of(module)) for module, offered in found.items() if offered)


def of_package(name: str) -> tuple[Collection, ...]:
    """Return what one installed package offers; raises UsageError if that is nothing."""
    offers = installed()
    if chosen := tuple(one for one in offers if one.origin.partition(".")[0] == name):
        return chosen
    names = sorted({one.origin.partition(".")[0] for one in offers})
    raise UsageError(
        f"no installed package {name!r} offers benchmarks by an entry point of the group {ENTRY_POINTS}; "
        f"{'those do: ' + ', '.join(names) if names else 'none does'}"
    )


def of_file(path: Path) -> Collection:
    """Return what a file declares."""
    return Collection(str(path), load_file(path), seals_beside(path))


def kept_seals(files: Iterable[Path] = ()) -> dict[str, Seal]:
    """Return what is sealed, by key: the suite, what packages have sealed, and what has been in some files."""
    kept: dict[str, Seal] = {}
    for path in (SEALS, *(one.seals for one in installed()), *map(seals_beside, files)):
        kept |= read_seals(path)
    return kept


def sealed_keys(benchmarks: Iterable[Benchmark], files: Iterable[Path] = ()) -> frozenset[str]:
    """Return the keys of those benchmarks that are held to their code; what nobody sealed is free to change.

    Seals lie beside the file that declares a benchmark, one of `files`, or that holds its workload.
    """
    chosen = list(benchmarks)
    own = (one.file for one in chosen if one.file is not None)
    return frozenset(one.key for one in chosen) & kept_seals(dict.fromkeys((*files, *own))).keys()


def sealing_command(benchmark: Benchmark, files: Iterable[Path] = ()) -> str:
    """Return the command that seals what is declared together with a benchmark."""
    for path in files:
        if benchmark.key in {one.key for one in load_file(path)}:
            return shlex.join(["strobe", "bench", "check", "--file", str(path), "--update"])
    for collection in installed():
        if benchmark.key in {one.key for one in collection.benchmarks}:
            return shlex.join(
                ["strobe", "bench", "check", "--package", collection.origin.partition(".")[0], "--update"]
            )
    return "strobe bench check --update"


def _seals_of(module: str) -> Path:
    spec = find_spec(module)
    # One that is not in a file has no place for seals; then there is no such file either.
    return seals_beside(Path(spec.origin if spec is not None and spec.origin else module))


def load_file(path: Path) -> tuple[Benchmark, ...]:
    """Return the `BENCHMARKS` of a file."""
    module = load_user_file(path)
    if not hasattr(module, "BENCHMARKS"):
        raise UsageError(f"{path} has no BENCHMARKS, a list of strobe.bench.spec.Benchmark; docs/bench.md shows one")
    return tuple(_as_benchmarks(module.BENCHMARKS, str(path)))


def _as_benchmarks(value: Any, origin: str) -> list[Benchmark]:
    benchmarks = list(value) if isinstance(value, Iterable) else [value]
    for one in benchmarks:
        if not isinstance(one, Benchmark):
            raise UsageError(f"{origin}: {one!r} is not a strobe.bench.spec.Benchmark")
    return benchmarks


def everything(files: Iterable[Path] = ()) -> dict[str, Benchmark]:
    """Return all benchmarks by key; raises strobe.Error for a key that is declared twice.

    What an installed package declares again is left out with a warning: it must not keep the others from being used.
    """
    found = {one.key: one for one in builtin()}
    for collection in installed():
        for one in collection.benchmarks:
            if found.setdefault(one.key, one) is not one:
                origin = f"{collection.origin} {one.key}"
                warn_once(origin, f"left out: {one.key} of {collection.origin} is declared by somebody else already")
    for one in (one for path in files for one in load_file(path)):
        if found.setdefault(one.key, one) is not one:
            raise Error(f"{one.key} is declared twice: {found[one.key].workload}, {one.workload}")
    return found


def find(words: Sequence[str] = (), *, tier: Tier | None = None, files: Sequence[Path] = ()) -> list[Benchmark]:
    """Return the benchmarks that any of the words names, of the tier and those within it.

    A word that is the path of a .py file stands for all benchmarks of that file. Without words, everything.
    """
    paths = [Path(word) for word in words if is_file_name(word)]
    names = [word for word in words if not is_file_name(word)]
    known = everything(dict.fromkeys([*files, *paths]))
    if not words:
        chosen = dict(known)
    else:
        chosen = {one.key: one for path in paths for one in load_file(path)}
        for name in names:
            chosen.update({one.key: one for one in _named(name, known)})
    if tier is not None:
        wanted = TIERS[: TIERS.index(tier) + 1]
        chosen = {key: one for key, one in chosen.items() if one.tier in wanted}
    return list(chosen.values())


def with_partners(benchmarks: Sequence[Benchmark], *, files: Sequence[Path] = ()) -> list[Benchmark]:
    """Return each Optimized benchmark with the OOTB one that it is held against before it; others follow."""
    known = list(everything(files).values())
    found: dict[str, Benchmark] = {}
    for one in benchmarks:
        if one.implementation == "Optimized":
            rivals = [other for other in known if other.implementation == "OOTB" and _task(other) == _task(one)]
            rival = max(rivals, key=lambda other: likeness(other.config, one.config), default=None)
            found.update({other.key: other for other in (rival, one) if other is not None})
    return list({**found, **{one.key: one for one in benchmarks}}.values())


def _task(benchmark: Benchmark) -> tuple[str, str, str, int, int]:
    """What an Optimized benchmark has in common with its OOTB one: all but the precision."""
    config = without_precision(benchmark.config)
    return (benchmark.model, benchmark.mode, config, benchmark.devices, benchmark.nodes)


def find_one(key: str, files: Sequence[Path] = ()) -> Benchmark:
    """Return the benchmark with exactly this key.

    The suite's own are found without importing a package or a file: who measures them has no use for those.
    """
    known = {one.key: one for one in builtin()}
    if key not in known:
        known = everything(files)
    if key not in known:
        raise UsageError(f"no benchmark {key!r}{_hint(key, known)}; `strobe bench list` names all")
    return known[key]


def _named(name: str, known: dict[str, Benchmark]) -> list[Benchmark]:
    found = [one for key, one in known.items() if is_named(key, name)]
    if not found:
        raise UsageError(f"no benchmark matches {name!r}{_hint(name, known)}; `strobe bench list` names all")
    return found


def _hint(name: str, known: dict[str, Benchmark]) -> str:
    near = difflib.get_close_matches(name, [*known, *{key.partition("/")[0] for key in known}], n=1, cutoff=0.5)
    return f"; did you mean {near[0]!r}?" if near else ""
