"""The companion process: one per home, host, boot, pid namespace and user, shared by all their runs.

It makes journals durable, samples the machine, describes the environment and notices runs whose process died. A run
needs none of that to record its values: without an agent only these extras are missing. A training process imports
`launch` (and what that imports), nothing else of this package.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _Package(ModuleType):
    """This package, callable: in wandb's vocabulary `agent(...)` runs a sweep."""

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        from strobe.errors import UsageError

        raise UsageError("strobe.agent(): sweeps are not part of this version; start the runs yourself, in one group")


sys.modules[__name__].__class__ = _Package
