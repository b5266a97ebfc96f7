"""What artifact tests need on stage: a recorder without a journal, files to add, a draft in one call."""

from __future__ import annotations

from pathlib import Path

from strobe.artifact import Artifact
from strobe.artifact.commit import commit
from strobe.home import Home, RunDir, RunPath
from strobe.journal import event as ev


class FakeRecorder:
    """Keeps what a run would write."""

    def __init__(self, home: Home, path: RunPath | None = None) -> None:
        self.home = home
        self.path = path or RunPath("local", "proj", "run1")
        self.run_dir: RunDir = home.run_dir(self.path)
        self.events: list[ev.Event] = []
        self.warnings: list[str] = []

    def event(self, happened: ev.Event) -> None:
        self.events.append(happened)

    def warn(self, message: str) -> None:
        self.warnings.append(message)

    def uses(self) -> list[ev.ArtifactUse]:
        return [happened for happened in self.events if isinstance(happened, ev.ArtifactUse)]


def write(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def draft(files: dict[str, str], name: str = "data", kind: str = "dataset", **options: object) -> Artifact:
    """Return a draft with these contents."""
    artifact = Artifact(name, kind, **options)  # type: ignore[arg-type]  # tests pass what they test
    for path, content in files.items():
        with artifact.new_file(path) as file:
            file.write(content)
    return artifact


def logged(home: Home, files: dict[str, str], name: str = "data", *, aliases: tuple[str, ...] = ()) -> Artifact:
    """Return a version with these contents, in local/proj."""
    artifact = draft(files, name)
    artifact.aliases = aliases
    commit(artifact, home, "local", "proj", run="local/proj/run1")
    return artifact
