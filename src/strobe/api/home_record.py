"""A run of a home: its journals, its files, its place in the trash."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from strobe.errors import UsageError
from strobe.home import Home, RunDir, RunPath
from strobe.journal import Replay
from strobe.journal.segment import list_segments, parse_name
from strobe.journal.skim import Skim

if TYPE_CHECKING:
    from strobe.api.files import File
    from strobe.api.rows import Row
    from strobe.artifact import Artifact
    from strobe.journal.event import Event

# What a list of runs does not need is imported where it is used: `strobe run ls` should start at once.


class HomeRecord:
    """Reads journals: names and state from a skim of them, which is quick; once there is a replay, from that."""

    def __init__(self, home: Home, run_dir: RunDir) -> None:
        self._home = home
        self.run_dir = run_dir
        #: a home serves no pages
        self.url = None
        self._skim: Skim | None = None
        self._replay: Replay | None = None

    @cached_property
    def path(self) -> RunPath:
        return self.run_dir.run_path

    @property
    def facts(self) -> Replay:
        if self._replay is not None:
            return self._replay
        if self._skim is None:
            self._skim = Skim(self.run_dir)
        return self._skim

    @property
    def whole(self) -> Replay:
        if self._replay is None:
            self._replay = Replay(self.run_dir)
            self._replay.refresh()
        return self._replay

    def refresh(self) -> None:
        self._skim = None
        if self._replay is not None:
            self._replay.refresh()

    @property
    def created_ns(self) -> int:
        if self.facts.started_ns:
            return self.facts.started_ns
        # The record of the start is damaged, or not written yet: the files then say it roughly.
        segments = list_segments(self.run_dir.journal)
        return min((segment.stat().st_mtime_ns for segment in segments), default=0)

    # --- what it logged

    def rows(
        self,
        keys: Sequence[str] | None,
        *,
        attempt: int | None = None,
        first: int | None = None,
        last: int | None = None,
        page_size: int = 1000,
    ) -> Iterator[Row]:
        # A skim knows which rows count while nothing can be superseded, which spares the replay of figures.
        attempts = {parse_name(segment)[0] for segment in list_segments(self.run_dir.journal)}
        teller = self.whole if len(attempts) > 1 else self.facts
        return teller.rows(None if keys is None else list(keys), attempt=attempt)

    def system_rows(self) -> Iterator[Row]:
        return self.facts.system_rows()

    def console(self, *, raw: bool, styles: bool) -> str:
        from strobe.journal.screen import render_streams

        pieces = self.facts.console()
        if raw:
            return "".join(piece.text for piece in pieces)
        lines = render_streams(((piece.stream, piece.text, piece.time_ns) for piece in pieces), styles=styles)
        return "".join(f"{line}\n" for _, _, line in lines)

    # --- changing

    def write(self, events: Sequence[Event]) -> None:
        from strobe.api.edit import write_edits

        write_edits(self.run_dir, events, attempt=max((each.number for each in self.facts.attempts), default=1))

    def delete(self) -> None:
        from strobe.api import trash

        trash.put(self._home, self.run_dir)

    def restore(self) -> None:
        from strobe.api import trash

        trash.restore(self._home, trash.find(self._home, str(self.path)))
        self.refresh()

    def stop(self) -> None:
        pids = [
            writer.started.pid
            for attempt in self.facts.attempts
            for writer in attempt.writers.values()
            if writer.state == "running" and writer.started is not None and writer.started.pid
        ]
        hint = f"interrupt its process ({', '.join(map(str, pids))})" if pids else "interrupt it where it runs"
        raise UsageError(f"run {self.path} lies in a home, which cannot reach it; {hint}")

    # --- files and artifacts

    def files(self, names: Sequence[str] | None = None) -> Iterable[File]:
        from strobe.api.home_files import list_files

        return list_files(self.run_dir.files, names)

    def file(self, name: str) -> File:
        from strobe.api.home_files import file_in

        return file_in(self.run_dir.files, name)

    def add_file(self, source: Path, name: str) -> File:
        from strobe.api.home_files import take_in
        from strobe.journal.event import SavedFile

        file = take_in(self.run_dir.files, source, name)
        self.write([SavedFile(time_ns=time.time_ns(), path=name, policy="now", source=str(source))])
        return file

    def logged_artifacts(self) -> list[Artifact]:
        from strobe.artifact import store

        return store.logged_by(self._home, self.path)

    def used_artifacts(self) -> list[Artifact]:
        from strobe.artifact import store

        return store.used_by(self._home, self.path)
