"""Edits made after the fact (name, tags, notes, config, summary): they go to a journal of their own.

The run's own journals are never touched; an edit is one more writer, of kind "edit", so it merges like everything else
and may be made while the run is still going.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence

from strobe.errors import JournalError
from strobe.home import RunDir
from strobe.journal import Header, Writer
from strobe.journal.event import Event


def write_edits(run_dir: RunDir, events: Sequence[Event], *, attempt: int) -> None:
    """Record the events durably, or raise: an edit, unlike a row, is worth stopping for."""
    run = run_dir.run_path
    header = Header(
        entity=run.entity,
        project=run.project,
        run=run.id,
        writer=os.urandom(4).hex(),
        attempt=attempt,
        kind="edit",
        created_ns=time.time_ns(),
    )
    faults: list[str] = []
    writer = Writer(run_dir.journal, header, warn=faults.append)
    for event in events:
        writer.event(event)
    writer.sync()
    writer.close()
    if writer.rejected or faults:
        raise JournalError(f"the edit of {run} was not recorded: {'; '.join(faults) or 'the disk refused it'}")
