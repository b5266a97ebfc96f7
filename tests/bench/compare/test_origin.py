"""Which code the sides of a row are when they are measured again, and when nobody can know."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from argparse import Namespace
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest

from strobe.bench.compare import remeasure
from strobe.bench.compare.origin import Origin
from strobe.bench.compare.remeasure import Code, checked_out
from strobe.bench.machine import describe
from strobe.bench.records import Environment, Record, append_records
from strobe.cli import main
from strobe.cli.bench_confirm import measuring
from strobe.cli.render import Screen
from tests.bench.results import result

OTHER_ROW = "toy/optimized/inference/one-fp32"


@dataclass
class Repository:
    """Two commits: `old`, and `new`, which lies here unchanged."""

    root: Path
    old: str
    new: str

    def git(self, *words: str) -> str:
        who = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
        return subprocess.run([*who, *words], cwd=self.root, check=True, capture_output=True, text=True).stdout.strip()

    def edit(self, text: str) -> None:
        (self.root / "product.py").write_text(text)

    def commit(self, text: str) -> str:
        self.edit(text)
        self.git("add", ".")
        self.git("commit", "--quiet", "-m", text)
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    root = tmp_path / "repository"
    root.mkdir()
    made = Repository(root, "", "")
    made.git("init", "--quiet")
    made.old, made.new = made.commit("old"), made.commit("new")
    monkeypatch.chdir(root)
    return made


def _at(commit: str, *, is_dirty: bool = False) -> Environment:
    return msgspec.structs.replace(describe(), git_commit=commit, is_dirty=is_dirty)


def _record(place: Environment, benchmark: str = "toy/ootb/inference/one-fp32") -> Record:
    return result([100.0], benchmark, environment=place, command=f"strobe bench run {benchmark} --batch 8")


def _confirm(
    a: Environment,
    b: Environment,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *options: str,
) -> tuple[int, set[str]]:
    """Return the exit code of a strict gate, and what was in the product on either side that was measured again."""
    seen: set[str] = set()

    def measure(record: Record, repeats: int, code: Code, home: Path) -> Record:
        seen.add(((code.checkout or Path.cwd()) / "product.py").read_text())
        return msgspec.structs.replace(record, samples=(100.0 + 0.01 * len(seen),))

    monkeypatch.setattr(remeasure, "measure_row", measure)
    for name, place in (("a", a), ("b", b)):
        append_records(tmp_path / f"{name}.jsonl", [_record(place)])
    words = ["bench", "compare", str(tmp_path / "a.jsonl"), str(tmp_path / "b.jsonl"), "--confirm", "--strict"]
    return main([*words, *options, "--home", str(tmp_path)]), seen


def test_two_commits_are_measured_again(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = _confirm(_at(repository.old), _at(repository.new), tmp_path, monkeypatch)
    assert found == (0, {"old", "new"})


def test_uncommitted_results_of_b_are_what_lies_here(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.edit("edited")
    found = _confirm(_at(repository.new), _at(repository.new, is_dirty=True), tmp_path, monkeypatch)
    assert found == (0, {"new", "edited"})


@pytest.mark.parametrize(
    ("of_a", "of_b", "reason"),
    [
        ("new dirty", "new dirty", "uncommitted changes, which are gone"),
        ("old dirty", "new", "uncommitted changes, which are gone"),
        ("new", "new", "both sides would be the same code"),
        ("", "", "both sides would be the same code"),
        # What was changed has been taken back since.
        ("new", "new dirty", "both sides would be the same code"),
        ("0123456789012345678901234567890123456789", "new", "not of the repository here"),
    ],
)
def test_code_is_not_measured_against_itself(
    of_a: str,
    of_b: str,
    reason: str,
    repository: Repository,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def place(words: str) -> Environment:
        name = words.removesuffix(" dirty")
        return _at({"old": repository.old, "new": repository.new}.get(name, name), is_dirty=name != words)

    assert _confirm(place(of_a), place(of_b), tmp_path, monkeypatch) == (3, set())
    captured = capsys.readouterr()
    assert reason in captured.err
    assert "1 inconclusive" in captured.out


def test_who_names_the_code_decides(repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    same = _at(repository.new)
    assert _confirm(same, same, tmp_path, monkeypatch, "--code-a", repository.old) == (0, {"old", "new"})
    assert _confirm(same, same, tmp_path, monkeypatch, "--code-a", ".") == (3, set())
    assert _confirm(same, same, tmp_path, monkeypatch, "--code-a", ".", "--code-b", ".") == (0, {"new"})


def test_a_branch_that_is_named_like_a_program_is_a_branch(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.git("branch", "test", repository.old)
    assert shutil.which("test")
    same = _at(repository.new)
    assert _confirm(same, same, tmp_path, monkeypatch, "--code-a", "test") == (0, {"old", "new"})


def test_a_program_that_is_no_python_is_none(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It would be called with `-m strobe`, and the row would have failed."""
    same = _at(repository.new)
    assert _confirm(same, same, tmp_path, monkeypatch, "--code-a", "test") == (2, set())
    assert "commit 'test' cannot be checked out" in capsys.readouterr().err


@pytest.mark.parametrize("is_a_path", [True, False])
def test_a_python_is_one_by_its_path_or_its_name(
    is_a_path: bool, repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "mine" if is_a_path else "python3.99"
    python = tmp_path / name
    python.write_text("#!/bin/sh\n")
    python.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    word = str(python) if is_a_path else name
    used: list[str] = []

    def measure(record: Record, repeats: int, code: Code, home: Path) -> Record:
        used.append(code.python)
        return record

    monkeypatch.setattr(remeasure, "measure_row", measure)
    row = _record(_at(repository.new))
    args = Namespace(code_a=word, code_b=None, results=tmp_path / "kept.jsonl", no_track=True)
    with measuring(args, [(row, row)], Screen()) as (measured, _):
        measured("A", row, 1)
    assert used == [word]


def _places(repository: Repository, monkeypatch: pytest.MonkeyPatch, *sides: tuple[Record, Record]) -> list[Code]:
    """Return what each side is measured with."""
    used: list[Code] = []
    seen: list[str] = []

    def measure(record: Record, repeats: int, code: Code, home: Path) -> Record:
        used.append(code)
        seen.append(((code.checkout or repository.root) / "product.py").read_text())
        return record

    monkeypatch.setattr(remeasure, "measure_row", measure)
    args = Namespace(code_a=None, code_b=None, results=repository.root.parent / "kept.jsonl", no_track=True)
    with measuring(args, sides, Screen()) as (measured, _):
        for a, b in sides:
            measured("A", a, 1)
            measured("B", b, 1)
    assert seen == [repository.git("show", f"{one.environment.git_commit}:product.py") for two in sides for one in two]
    return used


def test_implementations_of_an_older_commit_are_measured_there(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    sides = _record(_at(repository.old)), _record(_at(repository.old), OTHER_ROW)
    a, b = _places(repository, monkeypatch, sides)
    assert a == b
    assert a.checkout is not None


def test_implementations_that_lie_here_need_no_checkout(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    sides = _record(_at(repository.new)), _record(_at(repository.new), OTHER_ROW)
    assert Origin(None, None, describe(source=repository.root), remeasure.commit_of).why_unknown(*sides) is None
    assert _places(repository, monkeypatch, sides) == [Code(), Code()]
    repository.edit("edited")
    assert Code() not in _places(repository, monkeypatch, sides)


def test_a_base_of_two_rows_is_prepared_as_either_is(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    """One OOTB result beside an Optimized one of its own commit, and another of a later one."""
    base = _record(_at(repository.new))
    sides = [(base, _record(_at(commit), OTHER_ROW)) for commit in (repository.new, repository.old)]
    used = _places(repository, monkeypatch, *sides)
    assert all(code.checkout is not None for code in used)


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where checkouts go."""
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    return place


def test_an_interrupted_checkout_leaves_nothing(
    repository: Repository, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = subprocess.run

    def interrupt(words: list[str], **options: Any) -> Any:
        done = run(words, **options)
        if "add" in words:
            raise KeyboardInterrupt
        return done

    # Nothing else can be sure to interrupt git between its first file and its last.
    monkeypatch.setattr(subprocess, "run", interrupt)
    with pytest.raises(KeyboardInterrupt), checked_out(repository.old, repository.root):
        pass
    assert len(repository.git("worktree", "list").splitlines()) == 1
    assert list(temporary.iterdir()) == []


def test_a_checkout_that_is_gone_does_not_cost_the_results(repository: Repository, temporary: Path) -> None:
    with checked_out(repository.old, repository.root) as code:
        assert code.checkout is not None
        shutil.rmtree(code.checkout)
    assert len(repository.git("worktree", "list").splitlines()) == 1
    with checked_out(repository.old, repository.root) as code:
        assert code.checkout is not None
        (code.checkout / ".git").unlink()
    assert len(repository.git("worktree", "list").splitlines()) == 1
    assert list(temporary.iterdir()) == []
