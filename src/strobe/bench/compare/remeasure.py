"""Measuring a row again with the code of one side: an interpreter of its own, or a commit in a checkout of its own.

The row's own command runs in a fresh `strobe bench run` of that code, so that two versions of Strobe, of a library or
of a user's package never share a process. Paths below the repository are turned towards the checkout. Its home is a
borrowed one, where the machine's peaks are undisturbed, however noisy they were: any commit takes those, and measures
anew what was disturbed, which on a busy machine would be ten seconds before every repeat.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from strobe.bench.compare.pairing import machine
from strobe.bench.records import Environment, Record, read_records
from strobe.bench.roofline import store_at
from strobe.errors import Error, UsageError

_RUN = ["strobe", "bench", "run"]


@dataclass(frozen=True, slots=True)
class Code:
    """What a side runs: an interpreter, and the repository at a commit if it is not what lies there now."""

    python: str = sys.executable
    #: the repository
    root: Path | None = None
    #: where a commit of it is checked out; None is the working tree, uncommitted changes included
    checkout: Path | None = None
    #: which commit that is
    commit: str = ""


def repository_of(path: Path) -> Path:
    """Return the root of the git repository that holds a path; raises UsageError outside of one."""
    try:
        return Path(_git(path, "rev-parse", "--show-toplevel"))
    except (subprocess.CalledProcessError, OSError) as exc:
        raise UsageError(f"{path} is in no git repository; name the code with --code-a and --code-b") from exc


def commit_of(word: str) -> str | None:
    """Return the commit that git means by a word here, such as a branch; None if it means none."""
    return _commit_in(Path.cwd(), word)


def _commit_in(place: Path, word: str) -> str | None:
    try:
        return _git(place, "rev-parse", "--verify", "--quiet", f"{word}^{{commit}}")
    except (subprocess.CalledProcessError, OSError):
        return None


def is_python(word: str) -> bool:
    """Whether a word is taken for an interpreter: a program's path, or a command whose name begins with `python`."""
    return (os.sep in word or word.startswith("python")) and shutil.which(word) is not None


@contextmanager
def checked_out(commit: str, root: Path) -> Iterator[Code]:
    """Check a commit out beside the repository for as long as it is needed; raises UsageError for none such."""
    parent = Path(tempfile.mkdtemp(prefix="strobe-bench-"))
    place = parent / commit[:12]
    try:
        try:
            _git(root, "worktree", "add", "--detach", str(place), commit)
        except subprocess.CalledProcessError as exc:
            raise UsageError(f"commit {commit!r} cannot be checked out of {root}: {exc.stderr.strip()}") from exc
        yield Code(root=root, checkout=place, commit=_git(place, "rev-parse", "HEAD"))
    finally:
        _discard(place, root)
        shutil.rmtree(parent, ignore_errors=True)


def _discard(place: Path, root: Path) -> None:
    """Remove a checkout, also one that was interrupted; what resists must not cost the results of an hour."""
    # The second --force is for the lock that a checkout has while it is made.
    if _call_git(root, "worktree", "remove", "--force", "--force", str(place)).returncode:
        shutil.rmtree(place, ignore_errors=True)
        # Looks at all worktrees, not only at this one, and so is asked for only where it is needed.
        if str(place) in _call_git(root, "worktree", "list", "--porcelain").stdout:
            _call_git(root, "worktree", "prune")


def can_remeasure(record: Record) -> bool:
    """Whether `strobe bench run` measured a row: tests, load profiles and the swarm have programs of their own."""
    try:
        return shlex.split(record.command)[: len(_RUN)] == _RUN
    except ValueError:  # no command line at all, such as one with a lonely quote
        return False


def why_not_here(a: Record, b: Record, here: Environment) -> str | None:
    """Return why two sides cannot be measured again on this machine, if so."""
    if not (can_remeasure(a) and can_remeasure(b)):
        return "not a result of `strobe bench run`"
    if any(machine(side.environment) != machine(here) for side in (a, b)):
        return "measured on another machine; measure it again there"
    return None


@contextmanager
def borrowed_home(home: Path) -> Iterator[Path]:
    """Make a home for rows to be measured in, for as long as that goes on; it has the peaks of another."""
    with tempfile.TemporaryDirectory(prefix="strobe-bench-") as directory:
        _lend_peaks(home, Path(directory))
        yield Path(directory)


def _lend_peaks(home: Path, other: Path) -> None:
    # From a file that holds none, or is somebody else's, nothing is lent: then they are measured here, once.
    with suppress(Error, OSError):
        store_at(home).lend(other)


def measure_row(record: Record, repeats: int, code: Code, home: Path) -> Record:
    """Measure a row in so many fresh processes; what goes wrong is the error of the record, not an exception.

    `home` is a borrowed one: what a process before this one measured there, although others disturbed it, has to do.
    """
    _lend_peaks(home, home)
    with tempfile.TemporaryDirectory(prefix="strobe-bench-") as directory:
        results = Path(directory, "results.jsonl")
        kept = ["--home", str(home), "--results", str(results)]
        words = [code.python, "-m", "strobe", *_command(record, repeats, code), *kept]
        place = _here(code)
        done = subprocess.run(words, cwd=place, env=_environment(code), capture_output=True, text=True, check=False)
        found = list(read_records(results)) if results.is_file() else []
    for one in found:
        if (one.benchmark, one.batch_size, one.metric) == (record.benchmark, record.batch_size, record.metric):
            ran = one.environment.git_commit
            return one if _is_of(code, ran) else _failed(record, f"it ran commit {ran[:10]}, not {code.commit[:10]}")
    said = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
    return _failed(record, f"with {code.python} it gave no result (exit code {done.returncode}): {said}")


def _failed(record: Record, reason: str) -> Record:
    return msgspec.structs.replace(record, samples=(), repeats=(), error=f"measured again {reason}")


def _is_of(code: Code, commit: str) -> bool:
    """Whether a result of a commit is one of what was checked out.

    An installed package or a path from elsewhere may have come first, and then both sides are the same code. A
    benchmark from another repository, or from none, says nothing about this one.
    """
    if code.root is None or not code.commit or commit in ("", code.commit):
        return True
    return _commit_in(code.root, commit) is None


def _command(record: Record, repeats: int, code: Code) -> list[str]:
    if not can_remeasure(record):
        raise UsageError(f"{record.benchmark}: only results of `strobe bench run` are measured again: {record.command}")
    words = [_turned(word, code) for word in shlex.split(record.command)[1:]]
    # The last of two options counts.
    return [*words, "--repeats", str(repeats), "--no-track", "--quiet"]


def _turned(word: str, code: Code) -> str:
    if code.root is None or code.checkout is None or not Path(word).is_absolute():
        return word
    path = Path(word)
    return str(code.checkout / path.relative_to(code.root)) if path.is_relative_to(code.root) else word


def _here(code: Code) -> Path:
    """Return the place in the checkout that is the present directory in the repository."""
    here = Path.cwd()
    if code.root is None or code.checkout is None or not here.is_relative_to(code.root):
        return here
    there = code.checkout / here.relative_to(code.root)
    return there if there.is_dir() else code.checkout


def _environment(code: Code) -> dict[str, str]:
    if code.checkout is None:
        return dict(os.environ)
    places = [str(code.checkout / "src"), str(code.checkout), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, places))}


def _git(place: Path, *words: str) -> str:
    done = _call_git(place, *words)
    done.check_returncode()
    return done.stdout.strip()


def _call_git(place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    directory = place if place.is_dir() else place.parent
    return subprocess.run(["git", "-C", str(directory), *words], capture_output=True, text=True, check=False)
