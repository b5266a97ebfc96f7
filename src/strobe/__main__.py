"""`python -m strobe`, the same program as `strobe`."""

from __future__ import annotations

import sys

from strobe.cli import main

if __name__ == "__main__":
    sys.exit(main())
