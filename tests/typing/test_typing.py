"""The types that a checker sees are tested like behaviour: examples.txt says what each expression must be."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).with_name("examples.txt")
ROOT = EXAMPLES.parents[2]
_EXPECTED = re.compile(r"# (is|error): (.+)$", re.MULTILINE)
_SEEN = re.compile(r"examples\.py:(\d+): (?:note: Revealed type is \"(.+)\"|error: .+\[([a-z-]+)\])$")


def expectations() -> dict[int, str]:
    lines = EXAMPLES.read_text().splitlines()
    found = ((number, _EXPECTED.search(line)) for number, line in enumerate(lines, 1))
    return {number: f"{match[1]} {match[2]}" for number, match in found if match}


def short(revealed: str) -> str:
    """Return a type as mypy prints it, without modules, and None as versions before 1.18 did not write it."""
    bare = re.sub(r"\b(?:\w+\.)+(\w+)", r"\1", revealed)
    return re.sub(r"Union\[(\w+), None\]", r"\1 | None", bare)


@pytest.mark.slow
def test_mypy_sees_what_the_examples_say(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    (tmp_path / "examples.py").write_text(_EXPECTED.sub("", EXAMPLES.read_text()))
    config = ["--config-file", str(ROOT / "pyproject.toml"), "--no-error-summary"]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *config, "examples.py"],
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
    )
    matches = [_SEEN.match(line) for line in done.stdout.splitlines()]
    seen = {int(match[1]): f"is {short(match[2])}" if match[2] else f"error {match[3]}" for match in matches if match}
    assert seen == expectations(), done.stdout + done.stderr
