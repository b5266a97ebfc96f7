"""Which packages the described process can import, with their versions, found along its own sys.path."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.metadata import Distribution


def describe_packages(cwd: str, sys_path: Sequence[str], problems: list[str]) -> dict[str, Any]:
    """Return "requirements": sorted `name==version`; of a package found twice the one that is imported."""
    from importlib.metadata import distributions

    # An empty entry is the working directory: of the described process, not of this one.
    path = [os.path.join(cwd, entry) if not os.path.isabs(entry) else entry for entry in sys_path]
    found: dict[str, str] = {}
    broken = 0
    try:
        for distribution in distributions(path=path):
            try:
                name, version = _field(distribution, "Name"), _field(distribution, "Version")
            except (KeyError, OSError, ValueError, TypeError):
                name = version = ""
            if not name or not version:
                broken += 1
                continue
            found.setdefault(name.lower().replace("_", "-"), f"{name}=={version}")
    except (OSError, ValueError) as error:
        problems.append(f"packages: {error}")
    if broken:
        problems.append(f"packages: {broken} without a readable name and version")
    return {"requirements": [found[name] for name in sorted(found)]}


def _field(distribution: Distribution, key: str) -> str:
    metadata = distribution.metadata
    # Newer Pythons warn of a key that is not there.
    if key not in metadata:
        return ""
    return metadata[key]
