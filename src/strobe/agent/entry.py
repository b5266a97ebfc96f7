"""Entries of `home.active`: one JSON file per live writer, written by `init()`, read here.

A file that is not (yet) readable is skipped and looked at again when it changes. Whether the process behind an entry
lives is not asked here; whether it *can* be told from this machine is.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from strobe import identity
from strobe.home import RunDir


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """A live writer of a run and what it wants from the agent. Fields unknown to this version are ignored."""

    run_dir: str
    writer: str
    attempt: int = 1
    pid: int
    pid_started: float
    host: str
    boot_id: str = ""
    pid_namespace: str = ""
    strobe_version: str = ""
    stats: bool = True
    stats_interval_s: float = 15.0
    #: GPUs to sample, None for all
    stats_gpu_ids: list[int] | None = None
    stats_disk_paths: tuple[str, ...] = ("/",)
    #: the run's policy; "agent" is the one that concerns us
    fsync: str = "agent"
    describe: bool = False
    disable_git: bool = False
    git_root: str | None = None
    git_remote: str = "origin"
    #: the diff is code, too
    disable_code: bool = False
    save_requirements: bool = True
    machine_info: bool = True
    redact: bool = True
    #: attributes that the user gave: what is found out about them does not count
    given: list[str] = []
    sys_path: list[str] = []
    cwd: str = ""
    argv: list[str] = []
    program: str | None = None

    @property
    def run(self) -> RunDir:
        return RunDir(Path(self.run_dir))

    def is_judged_here(self) -> bool:
        """Tell whether this machine can say if the process lives: its own, or one of an earlier boot of it."""
        return self.host == identity.host_id() and (
            self.boot_id != identity.boot_id() or self.pid_namespace == identity.pid_namespace()
        )

    def is_alive(self) -> bool | None:
        return identity.is_alive(self.pid, self.pid_started, self.host, self.boot_id, self.pid_namespace)


class ActiveEntries:
    """The entries in `directory` that `owner` wrote and this machine can judge."""

    def __init__(self, directory: Path, *, owner: int) -> None:
        self._directory = directory
        self._owner = owner
        self._known: dict[str, tuple[tuple[int, int, int], Entry | None]] = {}
        self._changed_ns = 0
        #: files that are no entries, with the reason
        self.refused: dict[str, str] = {}

    def scan(self) -> dict[str, Entry]:
        """Return the entries there are now, by writer."""
        self._changed_ns = self._read_changed_ns()
        known: dict[str, tuple[tuple[int, int, int], Entry | None]] = {}
        for name, stamp in self._list():
            before = self._known.get(name)
            known[name] = before if before is not None and before[0] == stamp else (stamp, self._read(name))
        self._known = known
        self.refused = {name: reason for name, reason in self.refused.items() if name in known}
        return {entry.writer: entry for _, entry in known.values() if entry is not None}

    def has_changed(self) -> bool:
        """Tell, for the price of one system call, whether entries came or went since the last scan."""
        return self._read_changed_ns() != self._changed_ns

    def remove(self, writer: str) -> None:
        """The writer has ended: forget it."""
        (self._directory / f"{writer}.json").unlink(missing_ok=True)

    def _read_changed_ns(self) -> int:
        try:
            return os.stat(self._directory).st_mtime_ns
        except OSError:
            return 0

    def _list(self) -> list[tuple[str, tuple[int, int, int]]]:
        found = []
        try:
            with os.scandir(self._directory) as files:
                for file in files:
                    if file.name.endswith(".json"):
                        try:
                            status = file.stat()
                        except FileNotFoundError:
                            continue
                        if status.st_uid == self._owner:
                            found.append((file.name, (status.st_mtime_ns, status.st_size, status.st_ino)))
        except FileNotFoundError:
            pass
        return sorted(found)

    def _read(self, name: str) -> Entry | None:
        try:
            entry = msgspec.json.decode((self._directory / name).read_bytes(), type=Entry)
        except (OSError, msgspec.MsgspecError) as error:
            self.refused[name] = str(error)
            return None
        if f"{entry.writer}.json" != name:
            self.refused[name] = f"holds writer {entry.writer!r}"
            return None
        return entry if entry.is_judged_here() else None
