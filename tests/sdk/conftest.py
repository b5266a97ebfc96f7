"""A stand-in for Jupyter."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace

import pytest


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the process look like an IPython kernel."""
    module = ModuleType("IPython")
    shell = SimpleNamespace(config={"IPKernelApp": {"connection_file": "kernel.json"}})
    module.get_ipython = lambda: shell  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", module)
