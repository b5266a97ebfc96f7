"""No test leaves a run behind for the next; and a stand-in for Jupyter."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace

import pytest

from strobe.sdk import current


@pytest.fixture(autouse=True)
def _nothing_stays_active() -> Iterator[None]:
    yield
    for run in list(current.active_runs()):
        run.finish()


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the process look like an IPython kernel."""
    module = ModuleType("IPython")
    shell = SimpleNamespace(config={"IPKernelApp": {"connection_file": "kernel.json"}})
    module.get_ipython = lambda: shell  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", module)
