"""Processes that measure keep what they free: a block that is needed again has its pages already."""

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
from tests.bench.runner.test_device import OWN

#: counts page faults of writing 48 MiB that were had and freed before, then of the same once free memory was given back
FAULTS = """
import resource
from strobe.bench.runner import allocator
def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    bytearray(48 << 20)[::4096] = bytes(48 << 8)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
faults()
print(faults())
allocator.give_back()
print(faults())
"""
NUM_PAGES = 48 << 8

glibc = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries have other allocators")


def _faults(environment: dict[str, str]) -> list[int]:
    done = subprocess.run([sys.executable, "-c", FAULTS], capture_output=True, text=True, check=True, env=environment)
    return [int(line) for line in done.stdout.split()]


@glibc
def test_what_was_freed_is_there_without_a_fault_until_it_is_given_back() -> None:
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("MALLOC_", "GLIBC_"))}
    again, after = _faults({**plain, **allocator.variables(plain)})
    assert again < 0.05 * NUM_PAGES
    assert after > 0.9 * NUM_PAGES
    assert _faults(plain)[0] > 0.9 * NUM_PAGES  # or there would be nothing to mend


@pytest.mark.parametrize("name", ["MALLOC_ARENA_MAX", "GLIBC_TUNABLES"])
def test_what_a_user_says_of_malloc_is_obeyed(name: str) -> None:
    assert allocator.variables({name: "1"}) == {}
    assert set(allocator.variables({"PATH": "/bin"})) == {"MALLOC_MMAP_MAX_", "MALLOC_TRIM_THRESHOLD_"}


@pytest.mark.slow
def test_results_say_how_memory_was_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("MALLOC_") or name == "GLIBC_TUNABLES"]:
        monkeypatch.delenv(name)
    cell = Cell(registry.find_one("own/micro/test/Plain", [OWN]), 1)
    (record,) = measure([cell], Options(repeats=1, seconds=0.01, files=(OWN,))).records
    assert record.environment.software["MALLOC_MMAP_MAX_"] == "0"
