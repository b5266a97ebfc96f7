"""The files part of a run: `save` keeps copies with the run, `restore` brings them back, `log_code` keeps the code.

Copies keep their path relative to a base and never leave the run's `files/`. "now" copies once, "live" again at the end
if the file has changed, "end" at the end only. Large files are copied on a side thread; `finish` waits for it.
"""

from __future__ import annotations

import glob as globbing
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from strobe.artifact import copying
from strobe.artifact.atomic import UNFINISHED, token
from strobe.artifact.contents import AT_ONCE_BYTES
from strobe.artifact.job import Job
from strobe.artifact.name import entry_path, safe_artifact_name
from strobe.artifact.sideline import Sideline
from strobe.artifact.tree import iter_files
from strobe.data.files import PARTIAL
from strobe.errors import UsageError
from strobe.home import RunPath
from strobe.journal import event
from strobe.sdk.artifacts import Artifacts, RunRecorder, StrPath
from strobe.sdk.code import Choice, is_python, iter_code

if TYPE_CHECKING:
    from strobe.artifact import Artifact

_POLICIES = ("live", "now", "end")


class Files:
    """Keeps files with one run."""

    def __init__(
        self,
        recorder: RunRecorder,
        *,
        artifacts: Callable[[], Artifacts] | None = None,
        ignored: Sequence[str] = (),
        at_once_bytes: int = AT_ONCE_BYTES,
    ) -> None:
        self._recorder = recorder
        self._ignored = ignored
        self._artifacts = artifacts or (lambda: Artifacts(recorder))
        self._at_once_bytes = at_once_bytes
        self._sideline = Sideline("strobe-files", warn=recorder.warn, at_once_bytes=at_once_bytes)
        self._saves: list[_Save] = []
        #: what each copy was made from
        self._copied: dict[str, copying.Signature] = {}
        self._noted: set[str] = set()

    @property
    def failed(self) -> list[str]:
        """Titles of what could not be copied."""
        return self._sideline.failed

    def save(
        self, glob_str: StrPath, base_path: StrPath | None = None, policy: str = "live", glob: bool = True
    ) -> list[str]:
        """Keep the files that match; return where their copies are (or will be).

        Paths are kept relative to `base_path`, else to the working directory; of an absolute path its last directory is
        kept. A directory means all files in it. `glob=False` takes the characters * ? [ as they are.
        """
        if policy not in _POLICIES:
            raise UsageError(f"save(policy={policy!r}): it can be 'live', 'now' or 'end'")
        text = os.fsdecode(glob_str)
        if "://" in text:
            self._recorder.warn(f"save({text!r}): this is an address, not a file; use Artifact.add_reference for it")
            return []
        request = _Save(text, base_path, policy, glob, self._recorder.run_dir.files)
        if policy != "now":
            self._saves.append(request)
        matches = list(request.matches())
        if not matches and policy != "end":
            self._recorder.warn(f"save({text!r}): no file matches" + (" yet" if policy == "live" else ""))
        found = self._wanted(matches)
        self._keep(found, policy, copies=policy != "end")
        return [str(self._recorder.run_dir.files / relative) for relative, _ in found]

    def restore(
        self, name: str, run_path: str | None = None, replace: bool = False, root: StrPath | None = None
    ) -> TextIO:
        """Bring a file of a run in this home (default: this run) to `root` (default: this run's files) and open it."""
        run = self._recorder.path
        if run_path is not None:
            run = RunPath.parse(run_path, entity=run.entity, project=run.project)
        relative = entry_path(name)
        source = self._recorder.home.run_dir(run).files / relative
        target = (Path(root) if root is not None else self._recorder.run_dir.files) / relative
        if replace or not target.exists():
            if not source.is_file():
                raise UsageError(f"run {run} has no file {name!r} in {self._recorder.home.path}")
            _copy(source, target, self._scratch)
        return open(target, encoding="utf-8")

    def log_code(
        self,
        root: StrPath | None = ".",
        name: str | None = None,
        include_fn: Choice = is_python,
        exclude_fn: Choice | None = None,
    ) -> Artifact | None:
        """Log the code under `root` as an artifact of type "code"; None if there is none.

        `include_fn` and `exclude_fn` get a path, and the root too if they take two arguments.
        """
        from strobe.artifact import Artifact

        program = Path(sys.argv[0] if sys.argv else "").name
        default = f"source-{self._recorder.path.project}-{program if program not in {'', '-c'} else 'code'}"
        artifact = Artifact(safe_artifact_name(name or default), "code")
        place = Path(root or ".")
        if not place.is_dir():
            raise UsageError(f"log_code: there is no directory {place}")
        for relative, path in iter_code(place, self._recorder.home.path, include_fn, exclude_fn):
            if not self._is_ignored(relative):
                artifact.add_file(path, relative)
        if not len(artifact.manifest):
            return None
        return self._artifacts().log_artifact(artifact)

    def finish(self, timeout_s: float | None = None) -> list[str]:
        """Copy what is due at the end; return the titles of what was not done within `timeout_s`."""
        for request in self._saves:
            matches = list(request.matches())
            if not matches and request.policy == "end":
                self._recorder.warn(f"save({request.text!r}): no file matches")
            self._keep(self._wanted(matches), request.policy, copies=True)
        self._saves.clear()
        late = self._sideline.drain(timeout_s)
        if late:
            self._recorder.warn(f"not copied in time, so not kept with the run: {', '.join(late)}")
        return late

    def _wanted(self, matches: list[tuple[str, Path]]) -> list[tuple[str, Path]]:
        # As a dictionary, because "**" finds a directory and then once more what is in it.
        return [(relative, path) for relative, path in dict(matches).items() if not self._is_ignored(relative)]

    def _is_ignored(self, relative: str) -> bool:
        """Tell whether a pattern of `ignore_globs` fits the path, or the name alone."""
        name = relative.rpartition("/")[2]
        return any(fnmatchcase(relative, pattern) or fnmatchcase(name, pattern) for pattern in self._ignored)

    def _keep(self, found: list[tuple[str, Path]], policy: str, *, copies: bool) -> None:
        budget = self._at_once_bytes
        for relative, source in found:
            if copies:
                size = self._copy_if_changed(relative, source, budget)
                budget -= min(size, budget)
            if relative not in self._noted:
                self._noted.add(relative)
                noted = event.SavedFile(time_ns=time.time_ns(), path=relative, policy=policy, source=str(source))
                self._recorder.event(noted)

    def _copy_if_changed(self, relative: str, source: Path, budget: int) -> int:
        target = self._recorder.run_dir.files / relative
        try:
            status = source.stat()
        except OSError as exc:
            self._recorder.warn(f"{source} could not be saved: {exc}")
            return 0
        seen = copying.Signature(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
        if self._copied.get(relative) == seen or _is_same(source, target):
            return 0
        job = Job(f"file {relative!r}", lambda: self._copy(relative, source, target))
        # In order, so that an older copy on the side thread does not end up over a newer one.
        self._sideline.do(job, seen.size + self._at_once_bytes - budget, in_order=True)
        return seen.size

    def _copy(self, relative: str, source: Path, target: Path) -> None:
        self._copied[relative] = _copy(source, target, self._scratch)

    @property
    def _scratch(self) -> Path:
        return self._recorder.run_dir.files / PARTIAL


class _Save:
    """One call of `save`, to be looked at again at the end."""

    def __init__(self, text: str, base_path: StrPath | None, policy: str, is_glob: bool, files: Path) -> None:
        self.text = text
        self.policy = policy
        self._is_glob = is_glob
        self._pattern = Path(os.path.abspath(text))
        self._base = self._find_base(base_path, files)
        if not self._pattern.is_relative_to(self._base):
            raise UsageError(
                f"save({text!r}): it's not below the base path {self._base}; pass a base_path that is above it"
            )

    def matches(self) -> Iterator[tuple[str, Path]]:
        """Yield (path in the run's files, file) for each file that matches now."""
        for found in self._expand():
            relative = found.relative_to(self._base).as_posix()
            if found.is_dir():
                prefix = "" if relative == "." else f"{relative}/"
                yield from ((prefix + below, path) for below, path in iter_files(found))
            elif found.exists():
                yield relative, found

    def _expand(self) -> list[Path]:
        if not self._is_glob:
            return [self._pattern]
        return sorted(map(Path, globbing.glob(str(self._pattern), recursive=True)))

    def _find_base(self, base_path: StrPath | None, files: Path) -> Path:
        if base_path is not None:
            return Path(os.path.abspath(os.fsdecode(base_path)))
        inside = files.absolute()
        if self._pattern.is_relative_to(inside):
            return inside  # written where it belongs already: `run.dir`
        if not Path(self.text).is_absolute():
            return Path.cwd()
        base = self._pattern.parent.parent
        while self._is_glob and globbing.has_magic(str(base)):
            base = base.parent
        return base


def _is_same(source: Path, target: Path) -> bool:
    try:
        return os.path.samefile(source, target)
    except OSError:
        return False


def _copy(source: Path, target: Path, scratch: Path) -> copying.Signature:
    """Copy whole or not at all; return what the source looked like before."""
    file = copying.open_regular(source)
    if file is None:
        raise UsageError(f"{source} is not a regular file and can't be saved")
    target.parent.mkdir(parents=True, exist_ok=True)
    # Half-written copies lie where readers of the run don't look, unless the copy goes out of the run.
    place = scratch if target.is_relative_to(scratch.parent) else target.parent
    place.mkdir(parents=True, exist_ok=True)
    temporary = place / (UNFINISHED + token())
    try:
        with file, copying.create(temporary) as copied:
            seen = copying.signature(file)
            copying.copy(file, copied)
        temporary.replace(target)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
    return seen
