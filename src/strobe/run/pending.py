"""Values that are not computed yet: CUDA tensors and lazily evaluated arrays.

`find_pending` recognises one without waiting for it. A pending value is resolved on a side thread (run/deferred.py).
JAX arrays cannot be changed after they were made, so a reference is enough; a CUDA tensor may be updated in place, so
it is copied first (run/cuda.py). This module imports neither library.
"""

from __future__ import annotations

from typing import Any


class Pending:
    """A value to be had later."""

    def resolve(self) -> Any:
        """Wait for the value and return it. Called on the side thread."""
        raise NotImplementedError


class PendingArray(Pending):
    """An immutable array that some runtime is still computing (JAX)."""

    def __init__(self, array: Any) -> None:
        self._array = array

    def resolve(self) -> Any:
        self._array.block_until_ready()
        return _computed(self._array)


def is_pending(value: Any) -> bool:
    """Tell whether reading `value` now would wait for a device or a computation."""
    if getattr(value, "is_cuda", False):
        return True
    is_ready = getattr(value, "is_ready", None)
    return is_ready is not None and hasattr(value, "block_until_ready") and not is_ready()


def find_pending(value: Any) -> Pending | None:
    """Return a handle on `value` if reading it now would wait, else None."""
    if not is_pending(value):
        return None
    if getattr(value, "is_cuda", False):
        from strobe.run.cuda import copy_off

        return copy_off(value)
    return PendingArray(value)


def _computed(array: Any) -> Any:
    import numpy as np

    return np.asarray(array)


def resolve_all(plain: Any) -> Any:
    """Return `plain` with every pending value in it resolved."""
    if isinstance(plain, Pending):
        return plain.resolve()
    if isinstance(plain, dict):
        return {key: resolve_all(item) for key, item in plain.items()}
    if isinstance(plain, list):
        return [resolve_all(item) for item in plain]
    return plain
