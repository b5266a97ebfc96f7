"""What an expert takes and gives: the tensors by name, one row per sample, as server and client agree on them.

The description travels as JSON; a client believes it only as far as these checks go, and both ends hold every message
against it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec
import torch

from strobe.errors import Error
from strobe.swarm.net.network import Payload
from strobe.swarm.tensors import TensorSpec
from strobe.swarm.tensors.dtypes import dtype_of
from strobe.swarm.tensors.layout import DEFAULT_BOUNDS, ITEM_BYTES

#: the methods that a server of experts answers
INFO: Final = "expert.info"
FORWARD: Final = "expert.forward"
BACKWARD: Final = "expert.backward"
STATUS: Final = "expert.status"
#: the words of metadata: whom a request is for, how its answer is to be compressed
UID: Final = "uid"
COMPRESSION: Final = "compression"

_MAX_ROW_BYTES: Final = 64 << 20
#: of all descriptions that one answer has; more is not read
MAX_INFO_BYTES: Final = 256 << 10
#: experts that one request may ask about
MAX_DESCRIBED: Final = 64


class SchemaMismatch(Error):
    """Tensors are not those that the expert takes or gives."""


class ExpertInfo(msgspec.Struct, frozen=True):
    """An expert as it describes itself. The shapes are those of one row: the batch comes before them."""

    uid: str
    expert_class: str
    inputs: dict[str, TensorSpec]
    outputs: dict[str, TensorSpec]
    max_batch_size: int

    @property
    def grads(self) -> dict[str, TensorSpec]:
        """What comes back for the inputs: gradients of those that have some."""
        return {name: spec for name, spec in self.inputs.items() if spec.is_float}

    @property
    def grad_outputs(self) -> dict[str, TensorSpec]:
        return {grad_name(name): spec for name, spec in self.outputs.items() if spec.is_float}


_decoder = msgspec.json.Decoder(list[ExpertInfo | None])


def grad_name(output: str) -> str:
    """Return the name under which the gradient of an output travels; no input is called so."""
    return f"grad.{output}"


def pack_infos(infos: Sequence[ExpertInfo | None]) -> bytes:
    """Return the answer to those who ask about experts, None in the place of one that is not here."""
    return msgspec.json.encode(infos)


def parse_infos(payload: Payload, uids: Sequence[str]) -> list[ExpertInfo | None]:
    """Return what a peer says about the experts that it was asked about; SchemaMismatch if it makes no sense."""
    said = f"the description of {', '.join(uids):.200}"
    try:
        infos = _decoder.decode(payload)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as exc:
        raise SchemaMismatch(f"{said} is none: {exc}") from exc
    if len(infos) != len(uids):
        raise SchemaMismatch(f"asked about {len(uids)} experts, the peer describes {len(infos)}")
    for uid, info in zip(uids, infos, strict=True):
        if info is not None:
            _check_info(uid, info)
    return infos


def _check_info(uid: str, info: ExpertInfo) -> None:
    if info.uid != uid:
        raise SchemaMismatch(f"asked about {uid}, the peer describes {info.uid!r:.80}")
    for specs in (info.inputs, info.outputs):
        if not 1 <= len(specs) <= DEFAULT_BOUNDS.max_tensors // 2:
            raise SchemaMismatch(f"{uid} says that it has {len(specs)} inputs or outputs")
        for name, spec in specs.items():
            _check_spec(uid, name, spec)


def _check_spec(uid: str, name: str, spec: TensorSpec) -> None:
    if not name.isidentifier() and not name.isdigit():
        raise SchemaMismatch(f"{uid} calls a tensor {name!r:.80}")
    if spec.dtype not in ITEM_BYTES or len(spec.shape) >= DEFAULT_BOUNDS.max_rank or any(n < 0 for n in spec.shape):
        raise SchemaMismatch(f"{uid} says that {name} is {spec!s:.200}")
    if math.prod(spec.shape) * ITEM_BYTES[spec.dtype] > _MAX_ROW_BYTES:
        raise SchemaMismatch(f"{uid} says that a row of {name} is {spec!s:.200}, over {_MAX_ROW_BYTES} bytes")


def check_names(uid: str, expected: Iterable[str], given: Iterable[str]) -> None:
    """SchemaMismatch unless tensors are called as those expected."""
    if set(given) != set(expected):
        raise SchemaMismatch(f"{uid} has {', '.join(sorted(expected))}; given: {', '.join(sorted(given))!r:.200}")


def are_rows(expected: Mapping[str, TensorSpec], tensors: Sequence[torch.Tensor]) -> bool:
    """Tell whether tensors are exactly those expected, in their order. If they are not, `check_rows` can tell why."""
    rows = tensors[0].shape[:1]
    for spec, tensor in zip(expected.values(), tensors, strict=True):
        shape = tensor.shape
        if shape[:1] != rows or shape[1:] != spec.shape or tensor.dtype is not dtype_of(spec.dtype):
            return False
    return rows not in ((), (0,))


def check_rows(
    uid: str, expected: Mapping[str, TensorSpec], given: Mapping[str, TensorSpec], rows: int | None = None
) -> int:
    """Return how many rows these tensors have; SchemaMismatch unless they are exactly those expected."""
    if given.keys() != expected.keys():
        check_names(uid, expected, given)
    for name, spec in expected.items():
        got = given[name]
        if got.dtype != spec.dtype or got.shape[1:] != spec.shape or not got.shape:
            raise SchemaMismatch(f"{name} of {uid} is {spec} for each row; given: {got!s:.200}")
        if rows is None:
            rows = got.shape[0]
        if got.shape[0] != rows:
            raise SchemaMismatch(f"{name} of {uid} has {got.shape[0]} rows where {rows} belong")
    if not rows:
        raise SchemaMismatch(f"{uid} was given no rows")
    return rows
