"""docs/bench.md: its example of a benchmark is measured as it stands, and its signs are those of the table."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from strobe.bench import table
from strobe.cli import OK, main

PAGE = (Path(__file__).parents[2] / "docs" / "bench.md").read_text(encoding="utf-8")
(EXAMPLE,) = re.findall(r"```python no-run\n(.*?)```", PAGE, re.DOTALL)


def test_every_sign_is_explained() -> None:
    for sign in table.MEANINGS:
        assert f"| `{sign}` |" in PAGE


@pytest.mark.slow
def test_the_example_is_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine.py"
    path.write_text(EXAMPLE, encoding="utf-8")
    arguments = ["--home", str(tmp_path / "home"), "--repeats", "1", "--seconds", "0.02", "--json"]
    assert main(["bench", "run", str(path), *arguments]) == OK
    rows = json.loads(capsys.readouterr().out)
    assert [(row["model"], row["batch_size"], row["is_correct"]) for row in rows] == [
        ("Sort", 8, True),
        ("Sort", 64, True),
    ]
    assert all(row["score"] > 0 for row in rows)
