"""What of a run can be searched: one nested document with the names that filters, orders and columns use.

    display_name, tags, notes, group, job_type, username, host   config.*   summary.*   metadata.*   figures.*

What the run's row holds itself (state, times) is not in it: it changes without anybody looking at the document.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from strobe.store.values.figure import SECTION

#: attributes that are fields of the run; the others are `metadata`
_FIELDS = ("name", "notes", "tags", "group", "job_type")


def document(
    *,
    run: str,
    entity: str,
    attributes: Mapping[str, Any],
    config: Mapping[str, Any],
    summary: Mapping[str, Any],
    figures: Mapping[str, float] | None = None,
) -> dict[str, Any]:
    """Return the document of a run; what is not set is left out, as `strobe.Api` has it."""
    found = {
        "display_name": attributes.get("name") or run,
        "notes": attributes.get("notes") or "",
        "tags": list(attributes.get("tags") or ()),
        "group": attributes.get("group") or None,
        "job_type": attributes.get("job_type") or None,
        "username": attributes.get("user") or entity,
        "host": attributes.get("host"),
    }
    return {
        **{name: item for name, item in found.items() if item is not None},
        **({SECTION: figures} if figures else {}),
        "config": config,
        "summary": summary,
        "metadata": {name: item for name, item in attributes.items() if name not in _FIELDS},
    }
