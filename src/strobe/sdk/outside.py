"""Exceptions that came from outside: a signal handler raised them in the middle of a call of ours.

The usual way to put a time limit on a call is an alarm whose handler raises TimeoutError. Who catches faults of disks
and values must let that through. One that the system reports (ETIMEDOUT) has a number.
"""

from __future__ import annotations


def is_from_outside(error: BaseException) -> bool:
    """Tell whether `error` is a time limit's, not a fault of the system."""
    return isinstance(error, TimeoutError) and error.errno is None
