"""What of a user's file or package is the source of a workload, and what only declares it."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from strobe.bench import seal
from strobe.bench.source import essence
from strobe.bench.spec import Benchmark
from strobe.cli import FAILURE, OK
from strobe.errors import Error
from tests.bench.declared import declare

FILE = """
import os
from functools import partial

import numpy as np
from strobe.bench.spec import Benchmark, Latency
from strobe.bench.workload import Work

import helper
from parts import layer
from parts.deep import VALUE as value

WIDTH = 3


class Model:
    def step(self, index):
        return helper.double(index) * WIDTH * layer.f() * value


class Other:
    pass


SIZES = (1, 2)


def _declare(**more):
    return partial(Benchmark, model="Own", mode="Inference", version=1, tier="smoke", units="ex/s")(**more)


@partial
def _decorated():
    return "a"


BENCHMARKS = [
    _declare(
        config=_decorated(), implementation="OOTB", owner="me", batch_sizes=SIZES, max_batch=8,
        workload=f"{__file__}:{Model.__name__}",
    )
]
BENCHMARKS.append(_declare(config="b", implementation="Micro", owner="me", batch_sizes=(1,), max_batch=8,
                           workload=f"{__file__}:{Other.__name__}"))
"""

FILES = {
    "mine.py": FILE,
    "helper.py": "import json\nfrom parts.deep import VALUE\n\n\ndef double(x):\n    return 2 * x * VALUE\n",
    "parts/__init__.py": "",
    "parts/layer.py": "from .deep import VALUE\nfrom . import deeper\n\n\ndef f():\n    return VALUE\n",
    "parts/deep.py": "VALUE = 1\n",
    "parts/deeper.py": "MORE = 1\n",
    "unused.py": "NOTHING = 1\n",
    "numbers.py": "SHADOW = 1\n",
}


def _write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    _write(tmp_path, FILES)
    return tmp_path / "mine.py"


def _parts(one: Benchmark) -> set[str]:
    return set(seal.make_seal(one).parts) - {"specification"}


def test_a_file_is_sealed_with_the_modules_beside_it_that_it_needs(mine: Path) -> None:
    one = declare(f"{mine}:Model")
    # An __init__ belongs to it only where it is asked for a value.
    assert _parts(one) == {"mine.py", "helper.py", "parts/layer.py", "parts/deep.py", "parts/deeper.py"}
    assert _parts(declare(f"{mine}:Other")) == {"mine.py"}


@pytest.mark.parametrize("name", ["helper.py", "parts/layer.py", "parts/deep.py", "parts/deeper.py"])
def test_a_change_beside_the_file_breaks_the_seal_and_is_named(mine: Path, name: str) -> None:
    one = declare(f"{mine}:Model")
    seals = {one.key: seal.make_seal(one)}
    path = mine.parent / name
    path.write_text(f"{FILES[name]}# a comment\n")
    assert seal.find_broken([one], seals) == []
    path.write_text(f"{FILES[name]}NEW = 1\n")
    (broken,) = seal.find_broken([one], seals)
    assert broken.changed == (name,)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("batch_sizes=SIZES", "batch_sizes=(*SIZES, 4)"),
        ("SIZES = (1, 2)", "SIZES = (1, 2, 4)"),
        ('owner="me"', 'owner="you"'),
        ('tier="smoke"', 'tier="full"'),
        ("import Benchmark, Latency", "import Benchmark"),
        ("from functools import partial", "from functools import partial, reduce"),
        ('    return "a"', '    return "a" + ""'),
        ("BENCHMARKS.append(", "BENCHMARKS.insert(0, "),
        ("@partial\n", "@partial  # twice\n"),
        # The workload of another benchmark.
        ("class Other:\n    pass", "class Other:\n    x = 1"),
    ],
)
def test_what_only_declares_is_free(mine: Path, old: str, new: str) -> None:
    before = seal.make_seal(declare(f"{mine}:Model"))
    assert old in FILE
    mine.write_text(FILE.replace(old, new))
    assert seal.make_seal(declare(f"{mine}:Model")) == before


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("WIDTH = 3", "WIDTH = 4"),
        ("helper.double(index)", "helper.double(index + 1)"),
        ("import numpy as np", "import numpy"),
        ("class Other:\n    pass", "class Other(Model):\n    pass\n\n\nModel.other = Other"),
    ],
)
def test_what_the_workload_may_need_is_not(mine: Path, old: str, new: str) -> None:
    before = seal.make_seal(declare(f"{mine}:Model"))
    assert old in FILE
    mine.write_text(FILE.replace(old, new))
    assert seal.make_seal(declare(f"{mine}:Model")) != before


@pytest.mark.parametrize(
    "text", ['def f(x): "{} — é"; return {}\n', 'class A: """{}"""; X = {}\n', '"""Two\n{}"""; X = {}\n']
)
def test_code_beside_a_docstring_counts_and_the_docstring_does_not(text: str) -> None:
    before = essence(text.format("what it is", 1))
    assert essence(text.format("what it is", 2)) != before
    assert essence(text.format("what that is", 1)) == before


def test_statements_that_share_a_line_are_kept(mine: Path) -> None:
    mine.write_text("BENCHMARKS = []; WIDTH = 1\n\n\nclass Model:\n    x = WIDTH\n")
    before = seal.make_seal(declare(f"{mine}:Model"))
    mine.write_text("BENCHMARKS = []; WIDTH = 2\n\n\nclass Model:\n    x = WIDTH\n")
    assert seal.make_seal(declare(f"{mine}:Model")) != before


def test_optimized_is_sealed_with_what_it_shares_with_ootb_only(mine: Path) -> None:
    one = declare(f"{mine}:Model", implementation="Optimized", changes=("is quick",))
    assert _parts(one) == set()
    _write(mine.parent, {"ootb.py": "import helper\n", "mine.py": f"import ootb\n{FILE}"})
    assert _parts(one) == {"ootb.py", "helper.py", "parts/deep.py"}


PACKAGE = {
    "offered/__init__.py": "import offered.heavy\nLIMIT = 3\n",
    "offered/heavy.py": "X = 1\n",
    "offered/benchmarks.py": "from offered.sub.model import Model\n\nBENCHMARKS = [1]\n",
    "offered/sub/__init__.py": "",
    "offered/sub/model.py": "from ..data import draw\nimport neighbour\n\n\nclass Model:\n    x = draw()\n",
    "offered/data.py": "from strobe.bench.workloads.data import zipf\n\n\ndef draw():\n    return zipf\n",
    "neighbour.py": "Y = 1\n",
}


def test_a_package_is_sealed_with_its_own_modules_and_not_with_libraries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _write(tmp_path, PACKAGE)
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    one = declare("offered.sub.model:Model")
    seals = {one.key: seal.make_seal(one)}
    own = {name for name in _parts(one) if not name.startswith("strobe.bench.workloads.")}
    assert own == {"offered.sub.model", "offered.data"}
    assert "strobe.bench.workloads.data.zipf" in _parts(one)
    assert not {name for name in sys.modules if name.partition(".")[0] == "offered"}  # read, not imported

    (tmp_path / "offered/data.py").write_text(f"{PACKAGE['offered/data.py']}\n\nMORE = 1\n")
    (broken,) = seal.find_broken([one], seals)
    assert broken.changed == ("offered.data",)
    # A value of the package itself is in its __init__, which then belongs to it with all that it imports.
    (tmp_path / "offered/data.py").write_text("from offered import LIMIT\n\n\ndef draw():\n    return LIMIT\n")
    assert {"offered", "offered.heavy"} <= _parts(one)


def test_a_lone_module_of_an_installed_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "lonely_offer.py").write_text("class Model:\n    pass\n\n\nBENCHMARKS = []\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    one = declare("lonely_offer:Model")
    before = seal.make_seal(one)
    assert _parts(one) == {"lonely_offer"}
    (tmp_path / "lonely_offer.py").write_text("class Model:\n    pass\n\n\nBENCHMARKS = [1]\n")
    assert seal.make_seal(one) == before


def test_a_workload_that_is_nowhere_cannot_be_sealed() -> None:
    with pytest.raises(Error, match=r"no module 'no_such_package\.module' that could be sealed"):
        seal.make_seal(declare("no_such_package.module:Model"))


def test_a_batch_size_and_an_owner_move_under_a_seal(mine: Path) -> None:
    text = FILE.replace("import numpy as np\n", "")
    mine.write_text(text)
    check = [sys.executable, "-m", "strobe", "bench", "check", "--file", str(mine), "-q"]
    # From elsewhere: modules beside a file are found from any directory.
    assert subprocess.run([*check, "--update"], cwd="/").returncode == OK
    mine.write_text(text.replace("SIZES = (1, 2)", "SIZES = (4,)").replace('owner="me"', 'owner="you"'))
    assert subprocess.run(check, cwd="/").returncode == OK
    (mine.parent / "helper.py").write_text(FILES["helper.py"].replace("2 * x", "3 * x"))
    assert subprocess.run(check, cwd="/", capture_output=True).returncode == FAILURE
