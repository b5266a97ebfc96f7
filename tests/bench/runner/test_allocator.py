"""Processes of Optimized and Micro rows keep what they free: a block that is needed again has its pages already."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest

from strobe.bench import registry
from strobe.bench.runner import allocator
from strobe.bench.runner.options import Cell, Options
from strobe.bench.runner.session import measure
from strobe.bench.workloads.changes import KEPT
from tests.bench.runner.test_device import OWN

#: counts page faults of writing 48 MiB that were had and freed before
FAULTS = """
import resource
def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    bytearray(48 << 20)[::4096] = bytes(48 << 8)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
faults()
print(faults())
"""
NUM_PAGES = 48 << 8

glibc = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries have other allocators")


def _faults(environment: dict[str, str]) -> int:
    done = subprocess.run([sys.executable, "-c", FAULTS], capture_output=True, text=True, check=True, env=environment)
    return int(done.stdout)


@glibc
def test_what_was_freed_is_there_without_a_fault() -> None:
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("MALLOC_", "GLIBC_"))}
    assert _faults({**plain, **allocator.variables("Optimized", plain)}) < 0.05 * NUM_PAGES
    assert _faults({**plain, **allocator.variables("OOTB", plain)}) > 0.9 * NUM_PAGES


@pytest.mark.parametrize("name", ["MALLOC_ARENA_MAX", "GLIBC_TUNABLES"])
def test_what_a_user_says_of_malloc_is_obeyed(name: str) -> None:
    assert allocator.variables("Micro", {name: "1"}) == {}
    assert set(allocator.variables("Micro", {"PATH": "/bin"})) == {"MALLOC_MMAP_MAX_", "MALLOC_TRIM_THRESHOLD_"}


def test_all_optimized_rows_say_so() -> None:
    assert all((KEPT in one.changes) == (one.implementation == "Optimized") for one in registry.builtin())


@pytest.mark.slow
def test_results_say_how_memory_was_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("MALLOC_") or name == "GLIBC_TUNABLES"]:
        monkeypatch.delenv(name)
    cell = Cell(registry.find_one("own/micro/test/Plain", [OWN]), 1)
    (record,) = measure([cell], Options(repeats=1, seconds=0.01, files=(OWN,))).records
    assert record.environment.software["MALLOC_MMAP_MAX_"] == "0"
