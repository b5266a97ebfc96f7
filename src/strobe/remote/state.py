"""What is known of a run's upload: a small file in the run's directory, replaced in one step.

It is a hint, for people, for `finish()` and for whoever goes on with the upload; the truth is what the server says it
has. Losing it costs reading the journal once more.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from strobe.journal.mark import Mark

NAME = "sync.json"


class SyncState(msgspec.Struct, kw_only=True, omit_defaults=True):
    """How far the upload of a run has come. Fields may be added, never changed."""

    server: str
    #: "entity/project/id" that was asked for, where it is not the run's own
    destination: str = ""
    #: "entity/project/id" of the run there; empty until the server has said it
    run: str = ""
    #: what the server has acknowledged, by writer
    writers: dict[str, Mark] = {}
    #: writers that have ended, with everything of theirs at the server, files too
    settled: list[str] = []
    #: since this upload began: rows and bytes that went out, and what is left to read of journals and files
    num_rows: int = 0
    num_bytes: int = 0
    left_bytes: int = 0
    #: bytes that went to the server for all its runs and files: while this grows, something moves
    num_moved: int = 0
    num_files: int = 0
    num_files_left: int = 0
    #: "name:v3" of what the run logged and the server has
    artifacts: list[str] = []
    #: records and files that the server does not take, with the reason of the last one in `error`
    num_left_out: int = 0
    error: str = ""
    #: whether waiting is of no use: somebody has to change something
    is_refused: bool = False
    #: whether nobody answers there
    is_unreachable: bool = False
    #: attempts that were asked to stop
    stopped: list[int] = []
    #: when everything there was had arrived
    synced_ns: int = 0
    #: nothing is left and nothing will follow
    is_complete: bool = False
    updated_ns: int = 0


# Made here, once: msgspec crashes when threads are the first to decode a type at the same moment.
_decode_state = msgspec.json.Decoder(SyncState).decode


def read_state(run_dir: Path) -> SyncState | None:
    """Return what is known, None if nothing is."""
    try:
        return _decode_state((run_dir / NAME).read_bytes())
    except (OSError, msgspec.MsgspecError):
        return None


def write_state(run_dir: Path, state: SyncState) -> None:
    """Replace what is known. Raises OSError; a run that was deleted stays so."""
    temporary = run_dir / f".{NAME}.{os.getpid()}.{os.urandom(3).hex()}"
    try:
        temporary.write_bytes(msgspec.json.encode(state))
        temporary.replace(run_dir / NAME)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
