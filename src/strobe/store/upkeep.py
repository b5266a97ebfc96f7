"""Upkeep of a store: runs past their time are deleted, deleted ones removed for good, and what only they had, too.

Safe while others read and write, and when several servers do it at once.
"""

from __future__ import annotations

from dataclasses import dataclass

from strobe.store.store import Store
from strobe.store.sweep import DAY_S, Swept, sweep

#: how long a deletion can be undone
UNDO_S = 7 * DAY_S


@dataclass(frozen=True, slots=True)
class Kept:
    """What upkeep did."""

    #: runs whose time, by their project's retention, was over
    expired_runs: int
    #: deleted runs that were removed for good
    purged_runs: int
    swept: Swept


def keep_up(store: Store, *, undo_s: float = UNDO_S, grace_s: float = DAY_S) -> Kept:
    """Do all of it once."""
    now_ns = store.contents.clock()
    expired = store.runs.expire(now_ns=now_ns)
    purged = store.runs.purge(deleted_before_ns=now_ns - int(undo_s * 1e9))
    store.accounts.sessions.forget()
    swept = sweep(store.contents, store.uploads, store.artifacts, grace_s=grace_s, orphan_s=grace_s, undo_s=undo_s)
    return Kept(expired, purged, swept)
