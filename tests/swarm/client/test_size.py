from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from strobe.swarm.client.size import most_bytes, most_rows
from strobe.swarm.tensors import COMPRESSIONS, Bounds, MalformedTensors, TensorSpec, decode, encode

pytestmark = pytest.mark.frameworks

_DTYPES = (torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.bool)
_TENSORS = st.lists(st.tuples(st.sampled_from(_DTYPES), st.integers(1, 10_000)), min_size=1, max_size=8)


@given(_TENSORS, st.sampled_from(COMPRESSIONS))
def test_no_message_is_longer_than_said(tensors: list[tuple[torch.dtype, int]], compression: str) -> None:
    named = {str(place): torch.ones(length, dtype=dtype) for place, (dtype, length) in enumerate(tensors)}
    sent = encode(named, {"uid": "ffn.0.1"}, compression=compression)
    assert len(sent) <= most_bytes(map(TensorSpec.of, named.values()))


@given(st.integers(1, 2000), st.sampled_from(COMPRESSIONS))
def test_the_most_rows_that_fit_do_and_hardly_any_more(width: int, compression: str) -> None:
    bounds = Bounds(max_bytes=1 << 18, max_header_bytes=1 << 10)
    rows = most_rows([TensorSpec("F32", (width,)), TensorSpec("BOOL", (3,))], bounds)

    def sent(rows: int) -> bytes:
        tensors = {"x": torch.ones(rows, width), "mask": torch.ones(rows, 3, dtype=torch.bool)}
        return encode(tensors, {"uid": "ffn.0.1"}, compression=compression).joined()

    message = sent(rows)
    assert len(message) <= bounds.max_bytes
    decode(message, bounds)
    with pytest.raises(MalformedTensors, match="at most"):
        decode(sent(rows + 2 + 2048 // (4 * width)), bounds)


def test_it_is_not_much_more_than_the_tensors_have() -> None:
    assert most_bytes([TensorSpec("F32", (1 << 20,))]) < 5 << 20
