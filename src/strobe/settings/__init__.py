"""Settings: what can be set, by which names, from where, and who wins.

`Settings` is what a caller writes, `resolve` finds out what is in force, `Resolved` is the answer. `plain` turns
config values into what a journal can hold. Nothing here knows a run.
"""

from strobe.settings.resolve import Resolved, explain, resolve
from strobe.settings.settings import Settings

__all__ = ["Resolved", "Settings", "explain", "resolve"]
