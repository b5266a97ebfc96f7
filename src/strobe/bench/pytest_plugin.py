"""What pytest loads wherever Strobe is installed: the fixture, if this pytest can have it.

An environment may have Strobe and an older pytest for reasons of its own: its tests must run as if Strobe were not
there. So nothing stands here but the question.
"""

from __future__ import annotations

import pytest

if hasattr(pytest, "StashKey"):  # since pytest 7
    pytest_plugins = ["strobe.bench.pytest_fixture"]
