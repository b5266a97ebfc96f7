"""Exit codes of commands that are gates: 1 says that something is worse, and nothing else may say so."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import wraps

from strobe.errors import Error, UsageError


def gate(command: Callable[[argparse.Namespace], int]) -> Callable[[argparse.Namespace], int]:
    """Let a command that could not judge at all end with 2: a file that cannot be read, a library that is missing."""

    @wraps(command)
    def judge(args: argparse.Namespace) -> int:
        try:
            return command(args)
        except BrokenPipeError:  # of who reads us, and has seen enough
            raise
        except (Error, OSError) as exc:
            raise UsageError(str(exc)) from exc

    return judge
