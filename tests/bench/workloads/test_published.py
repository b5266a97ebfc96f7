"""Published configurations have exactly the published parameters, written down here a second time, from the sources.

A seal notices that a declaration has changed, but not that it is wrong: `strobe bench check --update` seals anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from importlib.util import find_spec
from typing import Any

import pytest

from strobe.bench.workloads.declared import BENCHMARKS

KNOWN = {one.key: one for one in BENCHMARKS}
needs_torch = [pytest.mark.frameworks, pytest.mark.skipif(find_spec("torch") is None, reason="needs torch")]

#: from TorchBench's fambench_dlrm, and the flags of FAMBench's own script for tiny
DLRM: Mapping[str, dict[str, Any]] = {
    "A.1dev-embed32-fp32": {
        "bottom": (2000, 1500, 1500, 1500, 192),
        "top": (4000, 4000, 4000, 4000, 4000, 4000, 4000, 4000, 4000, 1),
        "num_tables": 248,
        "num_rows": 965,
        "lookups": 55,
        "is_fixed": True,
        "pooling": "learned",
        "embedding_bits": 32,
        "mlp_bits": 32,
    },
    "A.1dev-embed4-fp32": {
        "bottom": (1414, 1750, 1750, 1750, 1750, 1750, 1750, 1750, 1750, 96),
        "top": (*(1450 for _ in range(36)), 1),
        "num_tables": 61,
        "num_rows": 555_693,
        "lookups": 8,
        "is_fixed": True,
        "pooling": "fixed",
        "embedding_bits": 4,
        "mlp_bits": 32,
    },
    "tiny": {
        "bottom": (512, 512, 64),
        "top": (1024, 1024, 1024, 1),
        "num_tables": 8,
        "num_rows": 1_000_000,
        "lookups": 100,
        "is_fixed": False,
        "pooling": "sum",
        "embedding_bits": 32,
        "mlp_bits": 32,
    },
}
#: the same in 16 bits, as its name says
DLRM = {**DLRM, "A.1dev-embed4-fp16": {**DLRM["A.1dev-embed4-fp32"], "mlp_bits": 16}}

#: batch sizes in any order, and parameters that the workload is made with
DECLARED: Mapping[str, tuple[tuple[int, ...], dict[str, Any]]] = {
    "dlrm/ootb/training/A.1dev-embed32-fp32": ((1024,), {"config": "A.1dev-embed32-fp32"}),
    "dlrm/ootb/inference/A.1dev-embed4-fp32": ((1024,), {"config": "A.1dev-embed4-fp32"}),
    "dlrm/ootb/inference/A.1dev-embed4-fp16": ((1024,), {"config": "A.1dev-embed4-fp16"}),
    "dlrm/ootb/training/tiny": ((64, 512), {"config": "tiny"}),
    "dlrm/ootb/inference/tiny": ((64, 512), {"config": "tiny"}),
    "xlm-r/ootb/inference/fb-1dev-A": ((96,), {"config": "large", "sequence": 64, "precision": "fp16"}),
    # param's sets of shapes
    "dlrm/micro/mlp-linear/mlp_A-1024-fp32": ((128, 256, 512, 1024, 2048, 4096), {"width": 1024}),
    "dlrm/micro/mlp-linear/mlp_A-4096-fp32": ((128, 256, 512, 1024, 2048, 4096), {"width": 4096}),
    "dlrm/micro/embeddingbag/emb_A-14M": (
        (512, 1024, 2048, 4096, 8192, 16384, 32768, 65536),
        {"rows": 14_000_000, "width": 128, "lookups": 30},
    ),
    "dlrm/micro/embeddingbag/emb_A-26M": (
        (512, 1024, 2048, 4096, 8192, 16384, 32768, 65536),
        {"rows": 26_000_000, "width": 128, "lookups": 30},
    ),
    "dlrm/micro/embeddingbag/emb_B-4.8M": (
        (2048, 4096, 8192, 16384, 32768, 65536),
        {"rows": 4_800_000, "width": 56, "lookups": 34},
    ),
    **{
        f"dlrm/micro/{operation}/{devices}dev-{name}": ((1,), {"operation": operation, "size_bytes": size})
        for devices in (2, 8)
        for operation, name, size in (
            ("all_reduce", "2200B", 2_200),
            ("all_reduce", "9944B", 9_944),
            ("all_reduce", "22372B", 22_372),
            ("all_to_all", "134MB", 134_000_000),
            ("all_to_all", "244MB", 244_000_000),
            ("all_to_all", "544MB", 544_000_000),
        )
    },
}


@pytest.mark.parametrize("key", DECLARED)
def test_declarations(key: str) -> None:
    batch_sizes, parameters = DECLARED[key]
    assert tuple(sorted(KNOWN[key].batch_sizes)) == batch_sizes
    assert dict(KNOWN[key].parameters) == parameters


@pytest.mark.parametrize("name", [pytest.param(name, marks=needs_torch) for name in DLRM])
def test_dlrm(name: str) -> None:
    from strobe.bench.workloads.dlrm.model import CONFIGS

    assert asdict(CONFIGS[name]) == {"name": name, **DLRM[name]}


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        pytest.param(name, sizes, marks=needs_torch)
        for name, sizes in {"base": (12, 768, 12, 3072), "large": (24, 1024, 16, 4096)}.items()
    ],
)
def test_xlmr(name: str, sizes: tuple[int, ...]) -> None:
    from strobe.bench.workloads.xlmr.model import CONFIGS

    encoder = CONFIGS[name].encoder
    assert (encoder.layers, encoder.width, encoder.heads, encoder.feed_forward) == sizes
    assert (CONFIGS[name].vocabulary, CONFIGS[name].positions) == (250_002, 514)
