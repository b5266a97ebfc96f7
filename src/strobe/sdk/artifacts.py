"""The artifact part of a run: log, use, link, and the copying of large files beside the training.

Artifacts of up to 32 MiB are stored before the call returns. Larger ones are read and copied on one side thread;
`drain` waits for it, `artifact.wait()` for one. A process that is killed midway leaves no version. Our own faults
(a full disk) warn and are counted in `failed`; they never stop the training.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Protocol

from strobe.artifact import Artifact, Collection, store
from strobe.artifact.artifact import from_path
from strobe.artifact.commit import check_aliases, commit, store_contents
from strobe.artifact.contents import AT_ONCE_BYTES
from strobe.artifact.job import Job
from strobe.artifact.name import ArtifactPath, safe_artifact_name
from strobe.artifact.part import Parts
from strobe.artifact.record import Use
from strobe.artifact.sideline import Sideline
from strobe.errors import UsageError
from strobe.home import Home, RunDir, RunPath
from strobe.journal import event

StrPath = str | os.PathLike[str]


class RunRecorder(Protocol):
    """What this part needs of a run."""

    @property
    def home(self) -> Home: ...
    @property
    def path(self) -> RunPath: ...
    @property
    def run_dir(self) -> RunDir: ...
    def event(self, happened: event.Event, /) -> object: ...
    def warn(self, message: str, /) -> object: ...


class Artifacts:
    """Logs and uses artifacts for one run. Thread safe as far as the recorder is."""

    def __init__(
        self,
        recorder: RunRecorder,
        *,
        group: str | None = None,
        step: Callable[[], int] | None = None,
        at_once_bytes: int = AT_ONCE_BYTES,
    ) -> None:
        self._recorder = recorder
        self._group = group
        self._step = step
        self._sideline = Sideline("strobe-artifacts", warn=recorder.warn, at_once_bytes=at_once_bytes)
        #: those being logged, by name: a name may be used before its copying is done
        self._pending: dict[str, Artifact] = {}

    # --- logging

    def log_artifact(
        self,
        artifact_or_path: Artifact | StrPath,
        name: str | None = None,
        type: str | None = None,
        aliases: Iterable[str] | str | None = None,
        tags: Iterable[str] | str | None = None,
    ) -> Artifact:
        """Log an artifact, or a file or directory as one; with no type it's "unspecified"."""
        artifact = self._as_artifact(artifact_or_path, name, type)
        artifact.describe(aliases, tags)
        if not artifact.is_draft():
            artifact.save()
            return artifact
        if not artifact.is_pending:
            # A name that has another type already is told at once, not on the side thread.
            self._create_collection(artifact)
            step = self._current_step()
            job = Job(f"artifact {artifact.name!r}", lambda: self._commit(artifact, step))
            artifact.follow(job)
            self._pending = {name: other for name, other in self._pending.items() if other.is_pending}
            # Versions of a name are numbered in the order of the calls.
            is_next = artifact.name in self._pending
            self._pending[artifact.name] = artifact
            self._sideline.do(job, artifact.waiting_bytes, in_order=is_next)
        return artifact

    def log_model(self, path: StrPath, name: str | None = None, aliases: Iterable[str] | str | None = None) -> Artifact:
        """Log a file or directory as an artifact of type "model"."""
        return self.log_artifact(path, name=name, type="model", aliases=aliases)

    def upsert_artifact(
        self,
        artifact_or_path: Artifact | StrPath,
        name: str | None = None,
        type: str | None = None,
        aliases: Iterable[str] | str | None = None,
        distributed_id: str | None = None,
    ) -> Artifact:
        """Add this process's part of an artifact that several processes make; it's stored when this returns."""
        artifact = self._as_artifact(artifact_or_path, name, type)
        check_aliases(aliases)
        parts = self._parts(artifact, distributed_id)
        job = Job(f"part of artifact {artifact.name!r}", lambda: self._add_part(artifact, parts))
        artifact.finalize()
        self._sideline.do(job, 0)
        return artifact

    def finish_artifact(
        self,
        artifact_or_path: Artifact | StrPath,
        name: str | None = None,
        type: str | None = None,
        aliases: Iterable[str] | str | None = None,
        distributed_id: str | None = None,
    ) -> Artifact:
        """Add this process's part, make all parts that are there one version, and log it."""
        artifact = self._as_artifact(artifact_or_path, name, type)
        artifact.describe(aliases)
        parts = self._parts(artifact, distributed_id)
        step = self._current_step()
        job = Job(f"artifact {artifact.name!r}", lambda: self._finish(artifact, parts, step))
        artifact.follow(job)
        self._sideline.do(job, 0, in_order=artifact.name in self._pending)
        return artifact

    # --- using

    def use_artifact(
        self,
        artifact_or_name: Artifact | str,
        type: str | None = None,
        aliases: Iterable[str] | str | None = None,
        use_as: str | None = None,
    ) -> Artifact:
        """Return an artifact by `[[entity/]project/]name[:alias]` and record that this run depends on it."""
        if isinstance(artifact_or_name, Artifact):
            artifact = artifact_or_name
            if artifact.is_draft():
                self.log_artifact(artifact)
            artifact.wait()
        else:
            artifact = self._find(artifact_or_name, type)
        if type is not None and artifact.type != type:
            raise UsageError(f"artifact {artifact.name!r} has type {artifact.type!r}, not {type!r}")
        if aliases:
            artifact.describe(aliases)
            artifact.save()
        artifact.use_as = use_as or artifact.use_as
        use = Use(by=str(self._recorder.path), time_ns=time.time_ns(), use_as=use_as)
        where = artifact.stored("version")
        try:
            where.collection.note_use(where.version.number, use)
        except OSError as exc:
            self._recorder.warn(f"the use of {artifact.name} could not be noted in the store: {exc}")
        self._note("use", artifact)
        return artifact

    def use_model(self, name: str) -> str:
        """Download a model that was logged and return its path: the file if it's one, else the directory."""
        artifact = self.use_artifact(name)
        if "model" not in artifact.type:
            raise UsageError(f"{name!r} has type {artifact.type!r}; use_model takes models, use_artifact takes all")
        return artifact.file() if artifact.file_count == 1 else artifact.download()

    # --- linking

    def link_artifact(
        self, artifact: Artifact, target_path: str, aliases: Iterable[str] | str | None = None
    ) -> Artifact | None:
        """Show an artifact in another collection too; None if it's large and will be linked once it's stored.

        None as well if it could not be stored, which was warned of.
        """
        run = self._recorder.path
        target = ArtifactPath.parse(target_path, entity=run.entity, project=run.project)
        place = f"{target.entity}/{target.project}/{target.name}"
        names = check_aliases(aliases)
        if artifact.is_draft():
            self.log_artifact(artifact)
        if artifact.is_pending:
            self._sideline.do(Job(f"link {place!r}", lambda: _link(artifact, place, names)), 0, in_order=True)
            return None
        return artifact.link(place, names) if not artifact.is_draft() else None

    def link_model(
        self,
        path: StrPath,
        registered_model_name: str,
        name: str | None = None,
        aliases: Iterable[str] | str | None = None,
    ) -> Artifact | None:
        """Log a model and show it as `registered_model_name` too."""
        return self.link_artifact(self.log_model(path, name), registered_model_name, aliases)

    # --- the side thread

    @property
    def failed(self) -> list[str]:
        """Titles of what could not be stored."""
        return self._sideline.failed

    def drain(self, timeout_s: float | None = None) -> list[str]:
        """Wait for what is being stored; return the titles of what was not done in time."""
        late = self._sideline.drain(timeout_s)
        if late:
            self._recorder.warn(f"not stored in time, so lost if the process ends now: {', '.join(late)}")
        return late

    # --- within

    def _as_artifact(self, given: Artifact | StrPath, name: str | None, kind: str | None) -> Artifact:
        if isinstance(given, Artifact):
            if kind is not None and kind != given.type:
                raise UsageError(f"artifact {given.name!r} has type {given.type!r}, not {kind!r}")
            return given
        path = os.fspath(given)
        base = Path(path).name or Path(path).absolute().name
        return from_path(path, name or safe_artifact_name(f"run-{self._recorder.path.id}-{base}"), kind)

    def _collection(self, artifact: Artifact) -> Collection:
        run = self._recorder.path
        return Collection(self._recorder.home, run.entity, run.project, artifact.name)

    def _create_collection(self, artifact: Artifact) -> None:
        with contextlib.suppress(OSError):  # complained about when it's stored
            self._collection(artifact).create(artifact.type)

    def _current_step(self) -> int | None:
        return self._step() if self._step is not None else None

    def _commit(self, artifact: Artifact, step: int | None) -> None:
        run = self._recorder.path
        commit(artifact, self._recorder.home, run.entity, run.project, run=str(run), step=step)
        self._note("log", artifact)

    def _parts(self, artifact: Artifact, distributed_id: str | None) -> Parts:
        wanted = distributed_id or self._group
        if not wanted:
            raise UsageError("a distributed artifact needs distributed_id=… or a run with a group")
        artifact.distributed_id = wanted
        self._create_collection(artifact)
        return Parts(self._collection(artifact).path, wanted)

    def _add_part(self, artifact: Artifact, parts: Parts) -> None:
        store_contents(artifact.manifest, self._recorder.home)
        parts.add(artifact.manifest)

    def _finish(self, artifact: Artifact, parts: Parts, step: int | None) -> None:
        self._add_part(artifact, parts)
        artifact.manifest.entries.update(parts.merge(artifact.manifest.algorithm).entries)
        self._commit(artifact, step)
        parts.remove()

    def _find(self, name: str, kind: str | None) -> Artifact:
        run = self._recorder.path
        wanted = ArtifactPath.parse(name, entity=run.entity, project=run.project)
        if (wanted.entity, wanted.project) == (run.entity, run.project) and wanted.name in self._pending:
            self._pending[wanted.name].wait()
        return store.find(self._recorder.home, str(wanted), kind)

    def _note(self, action: str, artifact: Artifact) -> None:
        run = self._recorder.path
        is_near = (artifact.entity, artifact.project) == (run.entity, run.project)
        collection = artifact.collection
        self._recorder.event(
            event.ArtifactUse(
                time_ns=time.time_ns(),
                action=action,
                name=collection.name if is_near else collection.qualified_name,
                kind=artifact.type,
                version=artifact.version,
                digest=artifact.digest,
                aliases=list(artifact.aliases),
            )
        )


def _link(artifact: Artifact, place: str, aliases: list[str]) -> None:
    artifact.link(place, aliases)
