"""The recorder: a run's place on disk and its pen. Parts of a run get this, not the run.

It owns the writer, notes the process for the agent, and knows what happens to the pen in a forked child: the child
becomes another writer of the run the first time it has something to record.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from time import time_ns
from typing import TYPE_CHECKING

import msgspec

from strobe._version import __version__
from strobe.environment.redact import redact_argv
from strobe.errors import RunFinished
from strobe.home import Home, RunDir, RunPath
from strobe.identity import boot_id, host_id, pid_namespace, process_started
from strobe.journal import event as ev
from strobe.journal.segment import Header
from strobe.journal.writer import Writer
from strobe.sdk.clean import clean
from strobe.sdk.name import generate_id
from strobe.sdk.origin import given_facts
from strobe.sdk.program import working_directory
from strobe.sdk.value import encode_row
from strobe.terminal import Terminal

if TYPE_CHECKING:
    from strobe.settings import Resolved


class Recorder:
    """Writes one process's part of a run. Never raises for faults of the disk."""

    def __init__(
        self,
        home: Home,
        path: RunPath,
        attempt: int,
        settings: Resolved,
        terminal: Terminal,
        *,
        kind: str = "main",
        rank: int | None = None,
    ) -> None:
        self.home = home
        self.path = path
        self.attempt = attempt
        self.settings = settings
        self.terminal = terminal
        self.kind = kind
        self.rank = rank
        self.run_dir: RunDir = home.run_dir(path)
        self.pid = os.getpid()
        self.started_ns = time_ns()
        #: in a forked child, until it records something: the writer was the parent's
        self.is_stale = False
        self.is_closed = False
        self._active: Path | None = None
        #: held while something is recorded; the writer's own
        self.lock = threading.RLock()
        self.writer = self._new_writer(self.lock)

    def event(self, event: ev.Event) -> None:
        """Record an event; raises RunFinished once the run has ended."""
        self.check_open()
        if self.is_stale:
            self.branch()
        self.writer.event(self._cleaned(event))

    def check_open(self) -> None:
        """Raise RunFinished once the run has ended."""
        if self.is_closed:
            raise RunFinished(f"run {self.path.id} has finished and cannot change any more; strobe.Api can edit it")

    def start(self, started: ev.Started) -> None:
        """Record the start of this writer with what identifies its process."""
        self.event(
            msgspec.structs.replace(
                started,
                pid=self.pid,
                pid_started=process_started(self.pid) or 0.0,
                host=host_id(),
                boot_id=boot_id(),
                pid_namespace=pid_namespace(),
                rank=self.rank,
            )
        )

    def announce(self, *, describe: bool) -> None:
        """Leave a note for the agent that this writer lives, and see that an agent is there."""
        settings = self.settings
        if self.is_uploaded:
            self._mark_unsynced()
        if not settings.agent:
            return
        note = {
            "run_dir": str(self.run_dir.path.absolute()),
            "writer": self.writer.header.writer,
            "attempt": self.attempt,
            "pid": self.pid,
            "pid_started": process_started(self.pid) or 0.0,
            "host": host_id(),
            "boot_id": boot_id(),
            "pid_namespace": pid_namespace(),
            "strobe_version": __version__,
            "stats": settings.stats and self.kind != "fork",
            "stats_interval_s": settings.stats_interval_s,
            "stats_gpu_ids": settings.stats_gpu_ids,
            "stats_disk_paths": settings.stats_disk_paths,
            "fsync": settings.fsync,
            "describe": describe,
            "disable_git": settings.disable_git,
            "git_root": None if settings.git_root is None else str(settings.git_root),
            "git_remote": settings.git_remote,
            "disable_code": settings.disable_code,
            "save_requirements": settings.save_requirements,
            "machine_info": settings.machine_info,
            "redact": settings.redact,
            "given": list(given_facts(settings)),
            "sys_path": _texts(sys.path),
            "argv": _texts(redact_argv(sys.argv) if settings.redact else sys.argv),
            "cwd": _texts([working_directory()])[0],
        }
        path = self.home.active / f"{self.writer.header.writer}.json"
        try:
            self.home.active.mkdir(parents=True, exist_ok=True)
            partial = path.with_suffix(".partial")
            partial.write_bytes(msgspec.json.encode(note))
            partial.replace(path)
        except (OSError, UnicodeEncodeError):
            return  # the writer has said what is wrong with the disk; a home whose name is no text has no agent
        self._active = path
        from strobe.agent.launch import ensure

        ensure(self.home, version=__version__)

    @property
    def is_uploaded(self) -> bool:
        """Whether the run goes to a server."""
        return self.settings.base_url is not None and self.settings.mode in ("online", "shared")

    def _mark_unsynced(self) -> None:
        """Leave word that this run is to be uploaded, for an agent or `strobe sync`, now or later."""
        from strobe.remote.note import leave_note, target_fields

        note = {
            "run_dir": str(self.run_dir.path.absolute()),
            "writer": self.writer.header.writer,
            "attempt": self.attempt,
            "primary": self.kind == "main",
            "pid": self.pid,
            "pid_started": process_started(self.pid) or 0.0,
            "host": host_id(),
            "boot_id": boot_id(),
            "pid_namespace": pid_namespace(),
            "target": target_fields(self.settings, os.environ),
        }
        # The writer has said what is wrong with the disk; without a note `strobe sync PATH` still ships the run.
        with suppress(OSError, UnicodeEncodeError):
            leave_note(self.home, note)

    def close(self, ended: ev.Ended) -> None:
        """Record the end of this writer and seal its journal."""
        self.is_closed = True
        self.writer.close(self._cleaned(ended))
        if self._active is not None and self.pid == os.getpid():
            with suppress(OSError):  # an agent that still finds it sees the end in the journal
                self._active.unlink()

    def after_fork(self) -> None:
        # At once, while the number is still the parent's file's: a daemon closes all and gives the numbers to others.
        self.writer.forget()
        self.lock = threading.RLock()
        self.is_stale = True

    def branch(self) -> None:
        """Become another writer of the run: the child of a fork goes on with a journal of its own."""
        with self.lock:
            if not self.is_stale:  # another thread was quicker
                return
            self.pid = os.getpid()
            self.kind = "fork"
            self._active = None
            self.writer = self._new_writer(self.lock)
            self.is_stale = False
            self.start(ev.Started(time_ns=time_ns(), primary=False))
            self.announce(describe=False)

    def _cleaned(self, event: ev.Event) -> ev.Event:
        return clean(event) if self.settings.redact else event

    def warn(self, message: str) -> None:
        self.terminal.warn(message)

    def _new_writer(self, lock: threading.RLock) -> Writer:
        header = Header(
            entity=self.path.entity,
            project=self.path.project,
            run=self.path.id,
            writer=generate_id(),
            attempt=self.attempt,
            kind=self.kind,
            host=host_id(),
            rank=self.rank,
            created_ns=time_ns(),
            strobe=__version__,
        )
        settings = self.settings
        return Writer(
            self.run_dir.journal,
            header,
            segment_bytes=settings.segment_bytes,
            fsync=settings.fsync,
            warn=self.warn,
            encode=encode_row,
            lock=lock,
        )


def _texts(words: Iterable[object]) -> list[str]:
    """Programs put paths and numbers into these lists; file names that are no UTF-8 come as lone surrogates."""
    return [str(word).encode("utf-8", "backslashreplace").decode() for word in words]
