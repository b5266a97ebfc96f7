"""Which cargo a run has: its files and the artifacts it logged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from strobe.agent.upload.artifacts import RunArtifacts
from strobe.agent.upload.cargo import Cargo
from strobe.agent.upload.course import MakeCargo
from strobe.agent.upload.files import RunFiles
from strobe.home import Home, RunDir
from strobe.journal.event import ArtifactUse
from strobe.remote.link import Link
from strobe.remote.state import SyncState


def cargo_of(home: Home, run_dir: RunDir, link: Link) -> MakeCargo:
    """Return what makes the cargo of that run, once it is known how far its upload has come."""

    def make(state: SyncState, policies: Mapping[str, str], logged: Sequence[ArtifactUse]) -> Sequence[Cargo]:
        return [RunFiles(run_dir, link, state, policies), RunArtifacts(home, run_dir, link, state, logged)]

    return make
