"""Artifacts in the store: collections of versions, each a manifest whose contents are kept once.

A version comes in as a draft: its manifest first, then the contents that the project does not have, then the commit,
which alone makes it visible. Manifests have the form and digest of `strobe.artifact`. One part per noun; nothing here
knows HTTP.
"""

from __future__ import annotations

from strobe.store.artifacts.collection import Collections
from strobe.store.artifacts.drafts import Drafts
from strobe.store.artifacts.lineage import Lineage
from strobe.store.artifacts.record import Collection, Draft, DraftFacts, Missing, TypeCount, Use, Version
from strobe.store.artifacts.versions import Versions
from strobe.store.contents import Contents

__all__ = ["Artifacts", "Collection", "Draft", "DraftFacts", "Missing", "TypeCount", "Use", "Version"]


class Artifacts:
    """All artifacts of a store, by noun."""

    def __init__(self, contents: Contents) -> None:
        self.collections = Collections(contents.database)
        self.versions = Versions(contents)
        self.drafts = Drafts(contents)
        self.lineage = Lineage(contents.database, contents.clock)
