"""Named torch tensors to a payload and back.

`encode` copies nothing that is not compressed: its payload points into the tensors' memory. `decode` checks the header
and knows every shape from it; the tensors themselves are made (as views, or decompressed) when they are asked for, so
that a busy event loop can leave that to another thread. A header says everything but the values, and the same ones come
again and again: what follows from one that was found good is remembered.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import msgspec
import numpy as np
import torch
from numpy.typing import NDArray

from strobe.errors import UsageError
from strobe.swarm.net.network import Payload, Pieces
from strobe.swarm.tensors import compression as c
from strobe.swarm.tensors.dtypes import array_at, code_of, dtype_of, memory_of, tensor_of
from strobe.swarm.tensors.layout import (
    DEFAULT_BOUNDS,
    ITEM_BYTES,
    Bounds,
    MalformedTensors,
    Slot,
    parse,
    size_of,
    split,
    write_head,
)

#: between a tensor's name and that of a part of it, and before it in metadata; so no name has it
_MARK: Final = ":"
_COMPRESSED: Final = "compressed" + _MARK
#: headers that are remembered, and the longest of them: strangers choose what they are
_NUM_KNOWN: Final = 512
_SHORT: Final = 1024
#: of those that are written, the most tensors that one has
_FEW: Final = 8


class TensorSpec(msgspec.Struct, frozen=True):
    """What a tensor is, without its values."""

    dtype: str
    shape: tuple[int, ...]

    @classmethod
    def of(cls, tensor: torch.Tensor) -> TensorSpec:
        return cls(code_of(tensor.dtype), tuple(tensor.shape))

    @property
    def is_float(self) -> bool:
        return self.dtype in ("F64", "F32", "F16", "BF16")

    def __str__(self) -> str:
        return f"{self.dtype}{list(self.shape)}"


def encode(
    tensors: Mapping[str, torch.Tensor], metadata: Mapping[str, str] | None = None, *, compression: str = "none"
) -> Pieces:
    """Return tensors as a payload. Their memory is not copied: leave it alone until the payload has been sent.

    `compression` applies to floating-point tensors; NotFinite if it cannot. Metadata is text, for whatever else a
    message says.
    """
    said = metadata or {}
    for name in tensors:
        if _MARK in name or not name or name[:2] == "__":
            raise UsageError(f"a tensor cannot be called {name!r}: no {_MARK!r}, no leading '__', not empty")
    if compression != "none":
        tensors, said = _compressed(tensors, said, compression)
    described = tuple([(name, tensor.dtype, tensor.shape) for name, tensor in tensors.items()])
    head, order = (_known_form if len(described) <= _FEW else _form)(described, tuple(said.items()))
    return Pieces([head, *[memory_of(tensors[name]) for name in order]])


def _compressed(
    tensors: Mapping[str, torch.Tensor], metadata: Mapping[str, str], compression: str
) -> tuple[Mapping[str, torch.Tensor], Mapping[str, str]]:
    """Return the parts of all tensors by their names, and what is said with how to put them together."""
    content: dict[str, torch.Tensor] = {}
    said = dict(metadata)
    for name, tensor in tensors.items():
        parts: dict[str, torch.Tensor] = {"": tensor}
        if tensor.is_floating_point() and tensor.numel():
            parts = c.codec(compression).compress(tensor.detach())
            said[_COMPRESSED + name] = f"{compression}{_MARK}{code_of(tensor.dtype)}"
        content.update((f"{name}{_MARK}{part}" if part else name, values) for part, values in parts.items())
    return content, said


def _form(
    described: tuple[tuple[str, torch.dtype, torch.Size], ...], metadata: tuple[tuple[str, str], ...]
) -> tuple[bytes, tuple[str, ...]]:
    """Return the header of tensors of these names, dtypes and shapes, and in which order they follow."""
    return write_head({name: (code_of(dtype), tuple(shape)) for name, dtype, shape in described}, dict(metadata))


_known_form = lru_cache(maxsize=_NUM_KNOWN)(_form)


class _Entry(NamedTuple):
    spec: TensorSpec
    compression: str
    #: where the parts are, by name; the one named "" has the tensor's shape
    parts: dict[str, Slot]


class _Plan(NamedTuple):
    """What a header says; shared by all messages that have it."""

    entries: dict[str, _Entry]
    specs: Mapping[str, TensorSpec]
    metadata: Mapping[str, str]
    #: how many bytes follow
    size: int


class Message:
    """Tensors that came, each of known dtype and shape, and the text that came with them."""

    __slots__ = ("_content", "_entries", "metadata", "specs")

    def __init__(self, plan: _Plan, content: memoryview) -> None:
        self._entries, self.specs, self.metadata, _ = plan
        self._content = content

    def tensors(self, *, finite: bool = False) -> dict[str, torch.Tensor]:
        """Return the tensors: views of the payload where they were not compressed.

        Raises MalformedTensors, and with `finite` NotFinite if any has NaN or infinite values.
        """
        return {name: _restored(name, entry, self._content, finite) for name, entry in self._entries.items()}


def decode(payload: Payload, bounds: Bounds = DEFAULT_BOUNDS) -> Message:
    """Return what a payload says; MalformedTensors if it contradicts itself or exceeds the bounds."""
    header, content = split(payload, bounds)
    plan = (_known_plan if len(header) <= _SHORT else _plan)(header, bounds)
    if plan.size != len(content):
        raise MalformedTensors(f"the header describes {plan.size} bytes of tensors, {len(content)} came")
    return Message(plan, content)


def _plan(header: bytes, bounds: Bounds) -> _Plan:
    slots, metadata, size = parse(header, bounds)
    entries: dict[str, _Entry] = {}
    total = 0
    for name in [name for name in slots if _MARK not in name]:
        said = metadata.pop(_COMPRESSED + name, None)
        slot = slots.pop(name)
        parts = {"": slot}
        method, code = "none", slot.dtype
        if said is not None:
            method, _, code = said.partition(_MARK)
            if method not in c.EXTRA_PARTS or code not in ITEM_BYTES or not TensorSpec(code, ()).is_float:
                raise MalformedTensors(f"tensor {name!r:.80} is compressed by {said!r:.80}, which is not known")
            for part in c.EXTRA_PARTS[method]:
                if (found := slots.pop(f"{name}{_MARK}{part}", None)) is None:
                    raise MalformedTensors(f"tensor {name!r:.80}, compressed by {method}, lacks its {part}")
                parts[part] = found
        entries[name] = _Entry(TensorSpec(code, slot.shape), method, parts)
        total += size_of(code, slot.shape)
    if slots:
        raise MalformedTensors(f"tensors that belong to none: {', '.join(sorted(slots))!r:.200}")
    if total > bounds.max_bytes:
        raise MalformedTensors(f"tensors of {total} bytes; at most {bounds.max_bytes} are taken")
    specs = {name: entry.spec for name, entry in entries.items()}
    return _Plan(entries, MappingProxyType(specs), MappingProxyType(metadata), size)


_known_plan = lru_cache(maxsize=_NUM_KNOWN)(_plan)


def _restored(name: str, entry: _Entry, content: memoryview, finite: bool) -> torch.Tensor:
    spec, compression, parts = entry
    code = spec.dtype
    if compression == "none":
        array = _array(content, parts[""])
        values = tensor_of(array, code)
        if code == "BOOL" and array.size and array.view(np.uint8).max() > 1:
            raise MalformedTensors(f"tensor {name!r:.80} has truth values other than 0 and 1")
        is_good = not finite or (c.is_array_finite(array) if code in ("F32", "F64") else c.is_finite(values))
    else:
        restored = {part: tensor_of(_array(content, slot), slot.dtype) for part, slot in parts.items()}
        values = c.codec(compression).restore(restored, dtype_of(code))
        is_good = not finite or c.is_finite(values)
    if not is_good:
        raise c.NotFinite(f"{name} has NaN or infinite values")
    return values


def _array(content: memoryview, slot: Slot) -> NDArray[Any]:
    begin, end = slot.data_offsets
    return array_at(content[begin:end], slot.dtype, slot.shape)
