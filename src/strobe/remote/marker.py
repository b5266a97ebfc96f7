"""Markers in `<home>/unsynced/`: one small file per writer of a run that goes to a server, until all of it is there.

Written by the writer's process when it starts, readable by its user alone because the server's key may be in it, and
removed by whoever has uploaded the run: so what is not uploaded yet is found by listing one directory. Each marker has
one writer and is never changed, which is why removing those that were there *before* a last look is safe.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import msgspec

from strobe import identity
from strobe.home import Home, RunDir
from strobe.remote.note import UNSYNCED
from strobe.remote.target import Target


class Marker(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A writer whose run is to be uploaded."""

    run_dir: str
    writer: str
    attempt: int = 1
    #: whether its process is the one that a request to stop is meant for
    primary: bool = True
    pid: int = 0
    pid_started: float = 0.0
    host: str = ""
    boot_id: str = ""
    pid_namespace: str = ""
    target: Target

    @property
    def run(self) -> RunDir:
        return RunDir(Path(self.run_dir))

    @property
    def name(self) -> str:
        return f"{self.writer}.json"

    def is_alive(self) -> bool | None:
        """Tell whether the writer's process lives; None when it cannot be told from here."""
        return identity.is_alive(self.pid, self.pid_started, self.host, self.boot_id, self.pid_namespace)

    def is_of_here(self) -> bool:
        """Tell whether the writer ran on this machine, in a container that this process sees."""
        return self.host == identity.host_id() and (
            self.boot_id != identity.boot_id() or self.pid_namespace == identity.pid_namespace()
        )


def directory(home: Home) -> Path:
    return home.path / UNSYNCED


def remove_marker(home: Home, marker: Marker) -> None:
    with suppress(OSError):
        (directory(home) / marker.name).unlink()


class Markers:
    """The markers of a home; each is read once, because it never changes."""

    def __init__(self, home: Home, *, owner: int | None = None) -> None:
        self._home = home
        self._directory = directory(home)
        self._owner = owner
        self._known: dict[str, Marker] = {}
        #: files that are no markers, with the reason
        self.refused: dict[str, str] = {}

    def scan(self) -> list[Marker]:
        """Return the markers there are now."""
        known: dict[str, Marker] = {}
        self.refused = {}
        with suppress(FileNotFoundError), os.scandir(self._directory) as files:
            for file in files:
                if not file.name.endswith(".json") or file.name.startswith("."):
                    continue
                if file.name in self._known:
                    known[file.name] = self._known[file.name]
                    continue
                try:
                    if self._owner is None or file.stat().st_uid == self._owner:
                        marker = msgspec.json.decode(Path(file.path).read_bytes(), type=Marker)
                        known[file.name] = self._located(marker)
                except (OSError, msgspec.MsgspecError) as error:
                    self.refused[file.name] = str(error)
        self._known = known
        return list(known.values())

    def _located(self, marker: Marker) -> Marker:
        """Return the marker with the run where it lies now: a home may be mounted elsewhere, or have been moved."""
        if marker.run.exists():
            return marker
        here = self._home.run_dir(marker.run.run_path)
        return msgspec.structs.replace(marker, run_dir=str(here.path.absolute())) if here.exists() else marker
