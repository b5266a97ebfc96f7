"""The pages name what there is: every metric that a row can have, every setting."""

from __future__ import annotations

import re
from pathlib import Path

from strobe.agent.gpu import Gpus
from strobe.agent.sampler import Sampler

from .scene import MakeEntry, QuietLog, rows_of, watched
from .test_gpu import FakeNvml

DOCS = Path(__file__).parents[2] / "docs"


def _documented() -> set[str]:
    """Return all names in the tables' first column, with `.x` after a full name expanded to its siblings."""
    names: set[str] = set()
    for line in (DOCS / "system-metrics.md").read_text().splitlines():
        if line.startswith("| `"):
            found = re.findall(r"`([^`]+)`", line.split("|")[1])
            prefix = found[0].rsplit(".", 1)[0]
            names.update(name if name.startswith("system.") else prefix + name for name in found)
    return names


def test_every_metric_is_documented(make_entry: MakeEntry, log: QuietLog) -> None:
    sampler = Sampler(log=log.write, load_gpu=FakeNvml)
    run = watched(make_entry())
    sampler.poll(run, 0.0)
    sampler.poll(run, 1.0)
    (row,) = rows_of(run.run_dir)
    written = set(row) | set(Gpus(FakeNvml()).sample(frozenset({42})))
    generic = {
        re.sub(r"(gpu\.(?:process\.)?)\d+", r"\1N", re.sub(r"disk\./.*\.", "disk.PATH.", key)) for key in written
    }
    assert generic - _documented() == set()


def test_the_environment_variables_are_documented() -> None:
    source = "".join(path.read_text() for path in (DOCS.parent / "src/strobe/agent").glob("*.py"))
    used = set(re.findall(r'"(STROBE_[A-Z_]*[A-Z])"', source))
    assert used
    page = (DOCS / "agent.md").read_text()
    assert [name for name in used if name not in page] == []
