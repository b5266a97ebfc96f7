"""The command line: `strobe GROUP VERB`, one file per group, imported only when it is the one that was typed.

Exit codes: 0 done, 1 failure, 2 usage, 3 partly done, 130 interrupted. stdout carries data, stderr carries
talk. A group's module offers `register(subparsers)`; its commands set `func`, which takes the parsed
arguments and returns an exit code. This module turns exceptions into one line and a code; it knows nothing of
what the commands do.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence

from strobe.errors import Error, RunNotFound, UsageError

OK, FAILURE, USAGE, PARTIAL, INTERRUPTED = 0, 1, 2, 3, 130


def code_for(num_failed: int, num_all: int) -> int:
    """Return the exit code of a command that does many things, of which so many failed."""
    return OK if not num_failed else FAILURE if num_failed == num_all else PARTIAL


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a sparkline on an ASCII terminal is no reason to fail
    try:
        code = _dispatch(arguments)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader (`| head`) has seen enough: that is its right, not our failure. What is still buffered
        # must not be flushed into the closed pipe at interpreter exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except (Error, OSError) as exc:
        return _report(exc, verbose="-v" in arguments or "--verbose" in arguments)
    return code


def _dispatch(arguments: list[str]) -> int:
    if arguments in (["--version"], ["-V"]):  # the quickest way: no parser at all
        from strobe._version import __version__

        print(f"strobe {__version__}")
        return OK
    from strobe.cli.parser import build

    try:
        args = build(arguments).parse_args(arguments)
    except SystemExit as exc:  # argparse has printed the help (0) or the mistake (2)
        return exc.code if isinstance(exc.code, int) else USAGE
    if (func := getattr(args, "func", None)) is None:
        args.help_of.print_help(sys.stderr)
        return USAGE
    return int(func(args) or OK)


def _report(exc: Error | OSError, *, verbose: bool) -> int:
    if verbose:
        import traceback

        traceback.print_exception(exc)
    else:
        print(f"strobe: {exc}", file=sys.stderr)
    if isinstance(exc, UsageError) and not isinstance(exc, RunNotFound):
        return USAGE
    return FAILURE
