"""Events without credentials: every text that a person or a program may have put one into is redacted."""

from __future__ import annotations

from typing import Any

import msgspec

from strobe.environment.redact import redact
from strobe.journal import event as ev

#: event → the fields that hold what came from outside
_FIELDS: dict[type[ev.Event], tuple[str, ...]] = {
    ev.Started: ("attributes",),
    ev.Attributes: ("changes",),
    ev.Config: ("changes",),
    ev.Summary: ("changes",),
    ev.Console: ("text",),
    ev.Alert: ("title", "text"),
    ev.Ended: ("error",),
}


def clean(event: ev.Event) -> ev.Event:
    """Return the event as it may be written; itself if there is nothing to hide."""
    changed: dict[str, Any] = {}
    for field in _FIELDS.get(type(event), ()):
        before = getattr(event, field)
        after = redact(before)
        if after is not before:
            changed[field] = after
    return msgspec.structs.replace(event, **changed) if changed else event
