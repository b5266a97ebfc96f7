"""What somebody watches: some runs, or all of a project, and points of some keys of them."""

from __future__ import annotations

import msgspec

from strobe.server.live.event import Event


class Interest(msgspec.Struct, frozen=True):
    """Which events are wanted; a value, so that the same interest is found again when a client comes back."""

    runs: frozenset[int] = frozenset()
    projects: frozenset[int] = frozenset()
    keys: frozenset[str] = frozenset()

    def covers(self, run_id: int, project_id: int) -> bool:
        return run_id in self.runs or project_id in self.projects

    def wants(self, event: Event) -> bool:
        return self.covers(event.run_id, event.project_id) and (event.key is None or event.key in self.keys)
