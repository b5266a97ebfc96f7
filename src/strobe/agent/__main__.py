"""`python -m strobe.agent --home DIR`: an agent in the foreground, talking to stderr, for looking at what it does."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from strobe.agent.log import Log
from strobe.agent.main import serve
from strobe.agent.seat import Seat
from strobe.home import Home, default_home


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m strobe.agent", description=__doc__)
    parser.add_argument(
        "--home", type=Path, default=None, help="the home to serve (default: $STROBE_HOME, else the user's)"
    )
    parser.add_argument("--idle", type=float, default=None, metavar="S", help="leave after S seconds without a run")
    args = parser.parse_args()
    home = Home((args.home or default_home()).absolute())
    return serve(Seat(home), Log(None), idle_s=args.idle)


if __name__ == "__main__":
    sys.exit(main())
