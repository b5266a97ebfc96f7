"""What `strobe bench compare` does not call fine: one result or one code twice, and what nobody could judge."""

from __future__ import annotations

import math
import random
from pathlib import Path

import msgspec
import pytest

from strobe.bench.records import append_records
from strobe.cli import main
from tests.bench.results import ELSEWHERE, HERE, result, wrong


def _write(path: Path, speed: float, **fields: object) -> Path:
    rng = random.Random(1)
    samples = [100 * speed * math.exp(rng.gauss(0, 0.005)) for _ in range(10)]
    append_records(path, [msgspec.structs.replace(result(samples), **fields)])
    return path


def test_a_result_is_not_compared_with_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = tmp_path / "bench" / "results.jsonl"
    edited = msgspec.structs.replace(HERE, started_at="2026-11-02T00:00:00+00:00", is_dirty=True)
    _write(results, 0.5, environment=edited)
    words = ["bench", "compare", HERE.git_commit, "latest", "--home", str(tmp_path)]
    assert main(words) == 2
    said = capsys.readouterr().err
    assert "A and B are the same result" in said
    assert "uncommitted changes" in said
    _write(results, 1.0, environment=msgspec.structs.replace(edited, started_at="2026-11-01", is_dirty=False))
    assert main(words) == 1  # the edit took half of the speed


@pytest.mark.parametrize("broken", [{"samples": (), "error": "out of memory"}, {"correctness": wrong()}])
@pytest.mark.parametrize("is_mended", [True, False])
def test_what_was_broken_before_does_not_pass_a_strict_gate(
    broken: dict[str, object], is_mended: bool, tmp_path: Path
) -> None:
    """It is not B's fault, but nobody knows how fast B is to be."""
    paths = (
        _write(tmp_path / "a.jsonl", 1.0, **broken),
        _write(tmp_path / "b.jsonl", 1.0, **({} if is_mended else broken)),
    )
    words = ["bench", "compare", *map(str, paths), "--home", str(tmp_path)]
    assert main(words) == 0
    assert main([*words, "--strict"]) == 3


def test_a_row_that_b_has_besides_passes_a_strict_gate(tmp_path: Path) -> None:
    paths = (_write(tmp_path / "a.jsonl", 1.0, threads=2), _write(tmp_path / "b.jsonl", 2.0, threads=2))
    _write(paths[1], 1.0, threads=1)
    words = ["bench", "compare", *map(str, paths), "--strict", "--home", str(tmp_path)]
    assert main(words) == 0
    _write(paths[1], 1.0, threads=2, environment=ELSEWHERE)
    assert main(words) == 0
    _write(paths[0], 1.0, threads=4)
    assert main(words) == 3
