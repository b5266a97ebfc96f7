"""Tensors to bytes and back: exactly, without copies, and what a stranger sends never gets past the checks."""

from __future__ import annotations

import json
import struct

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from strobe.errors import UsageError
from strobe.swarm.net.buffers import Buffers
from strobe.swarm.tensors import Bounds, MalformedTensors, TensorSpec, decode, encode

pytestmark = pytest.mark.frameworks

DTYPES = [
    torch.float64,
    torch.float32,
    torch.float16,
    torch.bfloat16,
    torch.int64,
    torch.int32,
    torch.int16,
    torch.int8,
    torch.uint8,
    torch.bool,
]


def received(tensors: dict[str, torch.Tensor], compression: str = "none", **metadata: str) -> bytearray:
    return bytearray(encode(tensors, metadata, compression=compression).joined())


def with_header(header: object, content: bytes = b"") -> bytes:
    packed = json.dumps(header).encode()
    return struct.pack("<Q", len(packed)) + packed + content


@st.composite
def tensors(draw: st.DrawFn) -> dict[str, torch.Tensor]:
    names = draw(st.lists(st.from_regex(r"[a-z][a-z0-9_.]{0,8}", fullmatch=True), unique=True, max_size=4))
    made = {}
    for name in names:
        shape = draw(st.lists(st.integers(0, 4), max_size=3))
        dtype = draw(st.sampled_from(DTYPES))
        made[name] = (torch.randn(shape) * 3).to(dtype)
    return made


@settings(deadline=None)
@given(tensors())
def test_what_is_encoded_comes_back(sent: dict[str, torch.Tensor]) -> None:
    message = decode(received(sent, uid="ffn.0"))
    assert message.metadata == {"uid": "ffn.0"}
    assert message.specs == {name: TensorSpec.of(tensor) for name, tensor in sent.items()}
    got = message.tensors()
    assert got.keys() == sent.keys()
    for name, tensor in sent.items():
        assert got[name].dtype == tensor.dtype
        assert torch.equal(got[name], tensor)


@settings(deadline=None, max_examples=300)
@given(tensors(), st.sampled_from(["none", "uniform8", "blockwise8"]), st.data())
def test_damage_is_refused_or_harmless(sent: dict[str, torch.Tensor], compression: str, data: st.DataObject) -> None:
    """Whatever bytes come: either MalformedTensors, or tensors of the size that the header says."""
    whole = received(sent, compression)
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(whole) - 1))
        whole[place] = data.draw(st.integers(0, 255))
    cut = data.draw(st.one_of(st.just(len(whole)), st.integers(0, len(whole))))
    try:
        message = decode(whole[:cut])
        got = message.tensors()
    except MalformedTensors:
        return
    assert {name: TensorSpec.of(tensor) for name, tensor in got.items()} == message.specs


@settings(deadline=None, max_examples=300)
@given(st.binary(max_size=200))
def test_noise_is_refused(noise: bytes) -> None:
    with pytest.raises(MalformedTensors):
        decode(struct.pack("<Q", len(noise)) + noise)


@pytest.mark.parametrize("cut", range(0, 140, 3))
def test_every_truncation_is_refused(cut: int) -> None:
    whole = received({"x": torch.arange(16.0)})
    with pytest.raises(MalformedTensors):
        decode(whole[: min(cut, len(whole) - 1)])


def test_nothing_is_copied_on_either_side() -> None:
    tensor = torch.arange(1000.0).view(10, 100)
    payload = encode({"x": tensor})
    tensor[3, 7] = -1.0
    assert payload.parts[1][(3 * 100 + 7) * 4 : (3 * 100 + 8) * 4] == struct.pack("<f", -1.0)
    buffer = bytearray(payload.joined())
    got = decode(memoryview(buffer)).tensors()["x"]
    got[0, 0] = 77.0
    assert decode(buffer).tensors()["x"][0, 0] == 77.0


@pytest.mark.parametrize("compression", ["none", "fp16", "uniform8"])
def test_memory_under_a_tensor_is_not_given_to_another_message(compression: str) -> None:
    buffers = Buffers()

    def arriving(value: float) -> torch.Tensor:
        sent = encode({"x": torch.full((1 << 19,), value)}, compression=compression).joined()
        view = buffers.take(len(sent))
        view[:] = sent
        return decode(view).tensors()["x"]

    held = [arriving(float(value)) for value in range(1, 6)]
    assert [tensor.min().item() for tensor in held] == [tensor.max().item() for tensor in held] == [1, 2, 3, 4, 5]


def test_read_only_memory_is_copied_so_that_writing_is_safe() -> None:
    payload = bytes(received({"x": torch.zeros(4)}))
    decode(payload).tensors()["x"].fill_(1.0)
    assert decode(payload).tensors()["x"].sum() == 0


def test_views_that_are_not_contiguous_arrive_as_they_look() -> None:
    tensor = torch.arange(12.0).view(3, 4).t()
    assert torch.equal(decode(received({"x": tensor})).tensors()["x"], tensor)


def test_the_layout_is_that_of_safetensors() -> None:
    whole = received({"x": torch.tensor([1.0, 2.0]), "mask": torch.tensor([True])}, uid="ffn.0")
    (length,) = struct.unpack_from("<Q", whole)
    assert (8 + length) % 64 == 0
    assert json.loads(whole[8 : 8 + length]) == {
        "__metadata__": {"uid": "ffn.0"},
        "x": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]},
        "mask": {"dtype": "BOOL", "shape": [1], "data_offsets": [8, 9]},
    }
    assert whole[8 + length :] == struct.pack("<ff?", 1.0, 2.0, True)


@pytest.mark.parametrize(
    ("header", "content"),
    [
        ({"x": {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]}}, bytes(4)),
        ({"x": {"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]}}, bytes(4)),
        ({"x": {"dtype": "F32", "shape": [1], "data_offsets": [4, 8]}}, bytes(8)),
        ({"x": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}, bytes(5)),
        ({"x": {"dtype": "F99", "shape": [1], "data_offsets": [0, 4]}}, bytes(4)),
        ({"x": {"dtype": "F32", "shape": [1.5], "data_offsets": [0, 4]}}, bytes(4)),
        ({"x": {"dtype": "F32", "shape": [1] * 9, "data_offsets": [0, 4]}}, bytes(4)),
        ({"x": {"dtype": "F32", "shape": [2**62, 4], "data_offsets": [0, 0]}}, b""),
        ({"x": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4], "code": 1}}, bytes(4)),
        ({"": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}, bytes(4)),
        ({"x:range": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}, bytes(4)),
        (
            {
                "x": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]},
                "y": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]},
            },
            bytes(4),
        ),
        (
            {
                "__metadata__": {"compressed:x": "uniform8:F32"},
                "x": {"dtype": "U8", "shape": [4], "data_offsets": [0, 4]},
            },
            bytes(4),
        ),
        (
            {
                "__metadata__": {"compressed:x": "pickle:F32"},
                "x": {"dtype": "U8", "shape": [4], "data_offsets": [0, 4]},
            },
            bytes(4),
        ),
        (
            {"__metadata__": {"compressed:x": "fp16:I64"}, "x": {"dtype": "F16", "shape": [2], "data_offsets": [0, 4]}},
            bytes(4),
        ),
        ({"__metadata__": {"n": 1}}, b""),
        ({"x": {"dtype": "F32", "shape": [0, 2**62, 2**62], "data_offsets": [0, 0]}}, b""),
        (
            {
                "__metadata__": {"compressed:x": "uniform8:F32"},
                "x": {"dtype": "U8", "shape": [4], "data_offsets": [0, 4]},
                "x:range": {"dtype": "F32", "shape": [0, 2**64], "data_offsets": [4, 4]},
            },
            bytes(4),
        ),
    ],
)
def test_headers_that_lie_are_refused(header: object, content: bytes) -> None:
    with pytest.raises(MalformedTensors):
        decode(with_header(header, content))


def test_a_header_that_was_good_before_is_held_against_what_follows_it() -> None:
    whole = bytes(received({"x": torch.arange(4.0)}, uid="ffn.0"))
    for _ in range(2):
        assert decode(whole).tensors()["x"].tolist() == [0.0, 1.0, 2.0, 3.0]
        with pytest.raises(MalformedTensors, match="describes 16 bytes of tensors, 15 came"):
            decode(whole[:-1])
        with pytest.raises(MalformedTensors, match="at most 15 are taken"):
            decode(whole, Bounds(max_bytes=15))


def test_messages_with_the_same_header_have_nothing_to_change_in_common() -> None:
    whole = bytes(received({"x": torch.zeros(1)}, uid="ffn.0"))
    message = decode(whole)
    with pytest.raises(TypeError):
        message.metadata["uid"] = "another"  # type: ignore[index]
    with pytest.raises(TypeError):
        message.specs["x"] = TensorSpec("F64", (1,))  # type: ignore[index]
    message.tensors()["x"].fill_(1.0)
    assert decode(whole).tensors()["x"] == 0


def test_bounds_are_kept() -> None:
    with pytest.raises(MalformedTensors, match="at most 100"):
        decode(received({"x": torch.zeros(100)}), Bounds(max_bytes=100))
    with pytest.raises(MalformedTensors, match="at most 1 are taken"):
        decode(received({"x": torch.zeros(1), "y": torch.zeros(1)}), Bounds(max_tensors=1))
    with pytest.raises(MalformedTensors, match="a header of"):
        decode(received({"x": torch.zeros(1)}, note="n" * 100), Bounds(max_header_bytes=100))
    # Compressed it has few bytes, restored it would have more than is wanted.
    with pytest.raises(MalformedTensors, match="at most"):
        decode(received({"x": torch.zeros(100)}, "uniform8"), Bounds(max_bytes=200))


def test_truth_values_are_checked() -> None:
    whole = received({"x": torch.tensor([True, False])})
    whole[-1] = 7
    with pytest.raises(MalformedTensors, match="truth values"):
        decode(whole).tensors()


@pytest.mark.parametrize("name", ["", "a:b", "__metadata__"])
def test_names_that_would_confuse_are_not_sent(name: str) -> None:
    with pytest.raises(UsageError):
        encode({name: torch.zeros(1)})


def test_dtypes_that_do_not_travel_are_named() -> None:
    with pytest.raises(UsageError, match="complex64"):
        encode({"x": torch.zeros(1, dtype=torch.complex64)})
