"""Named torch tensors to a payload and back.

`encode` copies nothing that is not compressed: its payload points into the tensors' memory. `decode` checks the header
and knows every shape from it; the tensors themselves are made (as views, or decompressed) when they are asked for, so
that a busy event loop can leave that to another thread.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec
import torch

from strobe.errors import UsageError
from strobe.swarm.net.network import Payload, Pieces
from strobe.swarm.tensors import compression as c
from strobe.swarm.tensors.dtypes import code_of, dtype_of, memory_of, tensor_at
from strobe.swarm.tensors.layout import DEFAULT_BOUNDS, ITEM_BYTES, Bounds, MalformedTensors, Slot, read, size_of, write

#: between a tensor's name and that of a part of it, and before it in metadata; so no name has it
_MARK: Final = ":"
_COMPRESSED: Final = "compressed" + _MARK


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
    content: dict[str, tuple[str, tuple[int, ...], memoryview]] = {}
    said = dict(metadata or {})
    for name, tensor in tensors.items():
        if _MARK in name or not name or name.startswith("__"):
            raise UsageError(f"a tensor cannot be called {name!r}: no {_MARK!r}, no leading '__', not empty")
        parts: dict[str, torch.Tensor] = {"": tensor}
        if compression != "none" and tensor.is_floating_point() and tensor.numel():
            parts = c.codec(compression).compress(tensor.detach())
            said[_COMPRESSED + name] = f"{compression}{_MARK}{code_of(tensor.dtype)}"
        for part, values in parts.items():
            content[f"{name}{_MARK}{part}" if part else name] = (
                code_of(values.dtype),
                tuple(values.shape),
                memory_of(values),
            )
    return write(content, said)


class _Entry:
    __slots__ = ("compression", "parts", "spec")

    def __init__(self, spec: TensorSpec, compression: str, parts: dict[str, tuple[Slot, memoryview]]) -> None:
        self.spec = spec
        self.compression = compression
        self.parts = parts


class Message:
    """Tensors that came, each of known dtype and shape, and the text that came with them."""

    __slots__ = ("_entries", "metadata")

    def __init__(self, entries: dict[str, _Entry], metadata: dict[str, str]) -> None:
        self._entries = entries
        self.metadata = metadata

    @property
    def specs(self) -> dict[str, TensorSpec]:
        return {name: entry.spec for name, entry in self._entries.items()}

    def tensors(self) -> dict[str, torch.Tensor]:
        """Return the tensors: views of the payload where they were not compressed. Raises MalformedTensors."""
        return {name: _restored(name, entry) for name, entry in self._entries.items()}


def decode(payload: Payload, bounds: Bounds = DEFAULT_BOUNDS) -> Message:
    """Return what a payload says; MalformedTensors if it contradicts itself or exceeds the bounds."""
    slots, metadata = read(payload, bounds)
    entries: dict[str, _Entry] = {}
    total = 0
    for name in [name for name in slots if _MARK not in name]:
        said = metadata.pop(_COMPRESSED + name, None)
        slot = slots[name][0]
        parts = {"": slots.pop(name)}
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
    return Message(entries, metadata)


def _restored(name: str, entry: _Entry) -> torch.Tensor:
    parts = {part: tensor_at(content, slot.dtype, slot.shape) for part, (slot, content) in entry.parts.items()}
    values = parts[""]
    if entry.compression != "none":
        return c.codec(entry.compression).restore(parts, dtype_of(entry.spec.dtype))
    if values.dtype == torch.bool and values.numel() and values.view(torch.uint8).max() > 1:
        raise MalformedTensors(f"tensor {name!r:.80} has truth values other than 0 and 1")
    return values
