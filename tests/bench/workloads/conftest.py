"""Models need torch; without it, the tests of the data and the declarations remain."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

if find_spec("torch") is None:
    collect_ignore = [path.name for path in Path(__file__).parent.glob("test_*.py") if path.stem != "test_declared"]
