"""How urgent an alert is."""

from __future__ import annotations

from enum import Enum


class AlertLevel(str, Enum):
    """Levels of `run.alert`."""

    INFO = "INFO"
    WARN = "WARN"
    ERROR = "ERROR"
