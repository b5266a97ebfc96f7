"""Benchmarks of an installed package: found by its entry point, sealed beside its module, and held to that by `run`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from strobe.cli import FAILURE, OK, USAGE
from tests.bench.known_peaks import know_peaks

MODEL = """
from strobe.bench.workload import Correctness, Work

from .factor import FACTOR


class Model:
    def __init__(self, tolerance):
        self.tolerance = tolerance

    def setup(self, batch_size, seed, device, threads):
        self.batch_size = batch_size

    def compile(self):
        pass

    def step(self, index):
        return FACTOR * index

    def work(self):
        return Work(examples=self.batch_size, flops=0, bytes=0)

    reference = step

    def check(self, output, reference):
        return Correctness(is_correct=True, error=0, max_error=0, tolerance=0, reference="itself")
"""
DECLARED = """
from strobe.bench.spec import Benchmark

BENCHMARKS = [
    Benchmark(
        model="Offered", implementation="OOTB", mode="Inference", config={config!r}, version=1, owner="me",
        units="ex/s", batch_sizes=(1,), max_batch=1, tier="full", workload="offering.model:Model",
    )
]
"""
FILES = {
    "offering/__init__.py": "",
    "offering/model.py": MODEL,
    "offering/factor.py": "FACTOR = 2\n",
    "offering/small.py": DECLARED.format(config="small"),
    "offering/large.py": DECLARED.format(config="large"),
    "offering-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: offering\nVersion: 1\n",
    "offering-1.dist-info/entry_points.txt": (
        "[strobe.benchmarks]\nsmall = offering.small:BENCHMARKS\nlarge = offering.large:BENCHMARKS\n"
    ),
}


class Site:
    """A directory with an installed package, and a command line that finds it."""

    def __init__(self, root: Path) -> None:
        self.root = root / "site"
        for name, text in FILES.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        found_in = os.pathsep.join(filter(None, [str(self.root), os.environ.get("PYTHONPATH")]))
        self.environment = {**os.environ, "PYTHONPATH": found_in, "STROBE_HOME": str(root)}
        know_peaks(root)

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "strobe", "bench", *words]
        return subprocess.run(command, env=self.environment, capture_output=True, text=True)


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


@pytest.mark.slow
def test_a_package_is_sealed_beside_its_modules_and_held_to_it(site: Site) -> None:
    row = ("run", "offered/ootb/inference/small", "--repeats", "1", "--seconds", "0.02", "--no-track", "--json")
    free = site.run(*row)
    assert free.returncode == OK, free.stderr  # a package without seals may change as it likes
    found = site.run("check", "--package", "offering")
    assert found.returncode == FAILURE
    assert "no seal: offered/ootb/inference/small version 1" in found.stdout
    sealed = site.run("check", "--package", "offering", "--update")
    assert sealed.returncode == OK
    assert "2 benchmarks" in sealed.stderr
    for name in ("small", "large"):
        kept = json.loads((site.root / "offering" / f"{name}.seals.json").read_text())
        assert list(kept) == [f"offered/ootb/inference/{name}"]
        assert "offering.factor" in kept[f"offered/ootb/inference/{name}"]["parts"]
    assert site.run("check", "--package", "offering").returncode == OK
    (site.root / "offering" / "factor.py").write_text("FACTOR = 3\n")
    broken = site.run("check", "--package", "offering", "--update")
    assert broken.returncode == FAILURE
    assert "changed: offered/ootb/inference/large version 1: offering.factor changed" in broken.stdout
    refused = site.run(*row)
    assert refused.returncode == USAGE
    assert "offered/ootb/inference/small version 1: offering.factor changed" in refused.stderr
    marked = site.run(*row, "--changed")
    assert marked.returncode == OK
    assert json.loads(marked.stdout)[0]["signs"] == "#"


def test_a_package_that_offers_nothing_is_told_with_those_that_do(site: Site) -> None:
    found = site.run("check", "--package", "nothing")
    assert found.returncode == USAGE
    assert "no installed package 'nothing' offers benchmarks" in found.stderr
    assert "those do: offering" in found.stderr


def test_a_file_and_a_package_are_not_checked_together(site: Site) -> None:
    found = site.run("check", "--package", "offering", "--file", "mine.py")
    assert found.returncode == USAGE
    assert "not allowed with" in found.stderr
