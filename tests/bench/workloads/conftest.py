"""Models need torch; without it, the tests of the data and the declarations remain."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

if find_spec("torch") is None:
    collect_ignore = [path.name for path in Path(__file__).parent.glob("test_*.py") if path.stem != "test_declared"]


@pytest.fixture(params=["native", "AVX2"])
def instructions(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Kernels as this machine compiles them, and as one without AVX-512 and its VNNI does."""
    from strobe.bench.workloads.layers import native

    if request.param == "native":
        yield
        return
    monkeypatch.setattr(native, "_FLAGS", (*native._FLAGS, "-mno-avx512f"))
    native.load_kernels.cache_clear()
    yield
    native.load_kernels.cache_clear()
