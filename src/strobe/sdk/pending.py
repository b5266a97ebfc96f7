"""Values that are not computed yet: CUDA tensors and lazily evaluated arrays.

`find_pending` recognises one without waiting for it. A pending value is asked now and then, on a side thread, whether
it is there (sdk/deferred.py). JAX arrays cannot be changed after they were made, so a reference is enough; a CUDA
tensor may be updated in place, so it is copied first (sdk/cuda.py). This module imports neither library.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


class Pending:
    """A value to be had later. Neither method waits: a thread stuck in foreign code cannot be ended cleanly."""

    #: memory that is held until the value is read
    nbytes = 0

    def is_ready(self) -> bool:
        """Tell whether `resolve` would return, or raise, at once."""
        raise NotImplementedError

    def resolve(self) -> Any:
        """Return the value, once it is ready. Raises what kept it from being computed."""
        raise NotImplementedError


class PendingArray(Pending):
    """An immutable array that some runtime is still computing (JAX)."""

    def __init__(self, array: Any) -> None:
        self._array = _own_handle(array)
        self.nbytes = int(getattr(array, "nbytes", 0))

    def is_ready(self) -> bool:
        return _is_deleted(self._array) or bool(self._array.is_ready())

    def resolve(self) -> Any:
        if _is_deleted(self._array):
            raise RuntimeError(
                "its memory was given up before it was computed (donate_argnums or delete()); log a copy of it"
            )
        return _read(self._array)


class FailedValue(Pending):
    """A value that cannot be had, through no fault of the call to log(): it is counted, not raised."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def is_ready(self) -> bool:
        return True

    def resolve(self) -> Any:
        raise self._error


def find_pending(value: Any) -> Pending | None:
    """Return a handle on `value` if it must be waited for, or will never be had; None if it can be read now.

    Raises TypeError for a CUDA tensor that has no value to wait for.
    """
    if getattr(value, "is_cuda", False) and hasattr(value, "detach"):
        from strobe.sdk.cuda import copy_off

        try:
            return copy_off(value)
        except RuntimeError as error:  # the device's troubles (out of memory, an earlier failure) are not the caller's
            return FailedValue(error)
    if not (hasattr(value, "is_ready") and hasattr(value, "block_until_ready")):
        return None
    if _is_deleted(value) or not value.is_ready():
        return PendingArray(value)
    try:
        _read(value)  # JAX keeps what it returns, so reading it again costs nothing
    except RuntimeError as error:
        # The computation has failed already. Whether that was before log() or after must not make a difference.
        return FailedValue(error)
    except TypeError:
        return None  # nothing of the computation: the value has no numbers, as a random key
    return None


def has_pending(plain: Any) -> bool:
    """Tell whether there is a pending value anywhere in `plain`."""
    if type(plain) is dict:
        return any(map(has_pending, plain.values()))
    if type(plain) is list:
        return any(map(has_pending, plain))
    return isinstance(plain, Pending)


def iter_pending(plain: Any) -> Iterator[Pending]:
    """Yield every pending value in `plain`."""
    if isinstance(plain, Pending):
        yield plain
    elif isinstance(plain, dict):
        for item in plain.values():
            yield from iter_pending(item)
    elif isinstance(plain, list):
        for item in plain:
            yield from iter_pending(item)


def resolve_all(plain: Any) -> Any:
    """Return `plain` with every pending value in it resolved."""
    if isinstance(plain, Pending):
        return plain.resolve()
    if isinstance(plain, dict):
        return {key: resolve_all(item) for key, item in plain.items()}
    if isinstance(plain, list):
        return [resolve_all(item) for item in plain]
    return plain


def _own_handle(array: Any) -> Any:
    """Return an array over the same memory that the user's delete() leaves alone.

    After `delete()` on the very object, its `is_ready()` crashes the interpreter (jaxlib 0.10); a handle of our own
    raises instead.
    """
    if not _is_deleted(array) and getattr(array, "is_fully_replicated", False):
        return array.addressable_data(0)
    return array


def _is_deleted(array: Any) -> bool:
    is_deleted = getattr(array, "is_deleted", None)
    return is_deleted is not None and bool(is_deleted())


def _read(array: Any) -> Any:
    import numpy as np

    return np.asarray(array)
