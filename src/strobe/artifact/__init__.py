"""Artifacts: named, versioned sets of files, kept by content in the home.

`Artifact` is what users touch; `store` is how the rest of Strobe reads what there is. This package knows homes and
files, neither runs nor journals nor servers. The names below load when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from strobe.artifact.artifact import Artifact
    from strobe.artifact.collection import Collection
    from strobe.artifact.details import ArtifactTTL
    from strobe.artifact.manifest import Entry, Manifest

__all__ = ["Artifact", "ArtifactTTL", "Collection", "Entry", "Manifest"]

_MODULES = {
    "Artifact": "artifact",
    "ArtifactTTL": "details",
    "Collection": "collection",
    "Entry": "manifest",
    "Manifest": "manifest",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
