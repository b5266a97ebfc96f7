"""Documents are tested: their Python runs, what they say is printed is printed, and their links lead somewhere.

The blocks of a page marked ```python are run in order in one process, in a home of its own. Those marked
```python file are files that a reader saves: they know nothing of the blocks before. Those marked ```python no-run show
what needs more than that.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import strobe
from strobe.home import Home
from tests.sdk.scripts import environment, only_replay

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])

#: what a page takes for granted
GIVEN = {
    "artifacts.md": """
import pathlib, strobe
pathlib.Path("model.pt").write_bytes(b"weights")
with strobe.init(project="digits") as run:
    artifact = strobe.Artifact("mnist", type="dataset")
    with artifact.new_file("digits.csv") as stream:
        stream.write("1,2,3")
    run.log_artifact(artifact).wait()
""",
    "bench.md": """
import pathlib
from strobe.bench.records import NOT_HERE, Record, append_records
row = dict(benchmark="sort/ootb/inference/small", subject="OOTB", metric="throughput", unit="ex/s", better="more")
rows = Record(**row, error="killed"), Record(**row, error=NOT_HERE + "needs a card"), Record(**row, samples=(1.0, 2.0))
append_records(pathlib.Path("results.jsonl"), rows)
""",
    "data-types.md": """
import numpy as np
x = np.zeros((8, 8, 3), "u1")
batch, values, rows = [x, x], [1.0, 2.0, 3.0], [[1, "a", 0.5]]
y_true, y_probas = [0, 1, 1, 0], [[0.9, 0.1], [0.2, 0.8], [0.4, 0.6], [0.7, 0.3]]
""",
    "reading.md": """
import strobe
for number in range(3):
    with strobe.init(project="mnist", config={"lr": 0.001 * number}, tags=["baseline"]) as run:
        for step in range(5):
            run.log({"train/loss": 1 / (step + 1), "val/loss": 1.0, "val/accuracy": number, "loss": 0.5})
""",
}

#: runs the blocks; what is printed is compared with the comment at the end of the line, where there is one
RUNNER = """
import builtins, json, re, sys
blocks, source, name = json.load(sys.stdin)
lines, wrong, real_print = source.splitlines(), [], builtins.print

def checked_print(*args, **kwargs):
    frame = sys._getframe(1)
    real_print(*args, **kwargs)
    if frame.f_code.co_filename == name:
        expected = re.search(r"\\)  # (.+)$", lines[frame.f_lineno - 1])
        text = " ".join(map(str, args))
        if expected and not re.fullmatch(".*".join(map(re.escape, expected[1].split("…"))), text, re.DOTALL):
            wrong.append(f"{name}:{frame.f_lineno}: printed {text!r}, the comment says {expected[1]!r}")

builtins.print = checked_print
namespace = {"__name__": "__main__"}
for start, code, is_file in blocks:
    compiled = compile("\\n" * start + code, name if start else "<given>", "exec", dont_inherit=True)
    exec(compiled, {"__name__": "saved"} if is_file else namespace)
sys.exit("\\n".join(wrong) or 0)
"""


class Block(NamedTuple):
    """A fenced block: the line before its first, its first word and the rest of the info string, its text."""

    line: int
    language: str
    remark: str
    text: str


def blocks_of(page: Path) -> list[Block]:
    found: list[Block] = []
    lines = page.read_text().splitlines()
    opened: tuple[int, str] | None = None
    for number, line in enumerate(lines):
        if line.startswith("```") and opened is None:
            opened = (number, line[3:])
        elif line == "```" and opened is not None:
            language, _, remark = opened[1].partition(" ")
            found.append(Block(opened[0] + 1, language, remark, "\n".join(lines[opened[0] + 1 : number]) + "\n"))
            opened = None
    assert opened is None, f"{page}:{opened}: a block that is never closed"
    return found


def python_of(page: Path) -> list[Block]:
    return [block for block in blocks_of(page) if block.language == "python" and block.remark != "no-run"]


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if python_of(page)], ids=lambda page: page.name)
def test_the_python_of_a_page_runs(page: Path, home: Home) -> None:
    import json

    given = [(0, GIVEN.get(page.name, ""), False)]
    blocks = [(block.line, block.text, block.remark == "file") for block in python_of(page)]
    told = [given + blocks, page.read_text(), page.name]
    home.path.mkdir(parents=True)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", RUNNER],
        input=json.dumps(told),
        cwd=home.path,
        env=environment(home),
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_blocks_say_what_they_are(page: Path) -> None:
    known = {"python", "console", "toml", "json", "text", "", "sh", "sql", "yaml", "html", "js"}
    for block in blocks_of(page):
        assert block.language in known, f"{page}:{block.line}: {block.language!r}"
        assert block.remark in {"", "file", "no-run"}, f"{page}:{block.line}: {block.remark!r}"
        if block.language == "python":
            compile(block.text, f"{page}:{block.line}", "exec")


def test_few_blocks_are_left_out() -> None:
    left_out = [block for page in PAGES for block in blocks_of(page) if block.remark == "no-run"]
    assert len(left_out) <= 6


def anchor(title: str) -> str:
    return re.sub(r"[^\w\- ]", "", title.lower().replace("`", "")).replace(" ", "-")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    prose = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", prose):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, fragment = target.partition("#")
        linked = (page.parent / path).resolve() if path else page
        assert linked.exists(), f"{page.name}: {target}"
        if fragment and linked.suffix == ".md":
            titles = re.findall(r"^#+ (.+)$", linked.read_text(), flags=re.MULTILINE)
            assert fragment in map(anchor, titles), f"{page.name}: {target}"


# -- docs/logging.md has the fate of every kind of value


def fates() -> list[tuple[str, str]]:
    """Return (value, what it is recorded as) of the rows of the table that have both as Python."""
    table = (ROOT / "docs" / "logging.md").read_text().partition("## What becomes of a value")[2].partition("\n## ")[0]
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table.splitlines() if line[:1] == "|"]
    return [(row[1].strip("`"), row[2].strip("`")) for row in cells if len(row) > 2 and row[1][:1] == row[2][:1] == "`"]


def test_the_table_of_values_is_long() -> None:
    assert len(fates()) >= 28


def names() -> dict[str, Any]:
    """What the table's Python refers to."""
    import dataclasses
    import datetime as dt
    import decimal
    import fractions
    import http
    import pathlib
    import uuid

    import numpy as np

    modules = (dt, decimal, fractions, http, pathlib, uuid)
    found = {name: item for module in modules for name, item in vars(module).items() if name[0] != "_"}
    return {**found, "np": np, "Point": dataclasses.make_dataclass("Point", ["x", "y"])}


@pytest.mark.parametrize(("value", "recorded"), fates())
def test_the_table_of_values_tells_the_truth(home: Home, value: str, recorded: str) -> None:
    with strobe.init(project="p") as run:
        run.log({"key": eval(value, names())})
    (row,) = only_replay(home).rows()
    expected = eval(recorded, names())
    assert (row["key"], type(row["key"])) == (expected, type(expected))
