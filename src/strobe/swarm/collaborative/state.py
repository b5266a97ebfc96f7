"""The state of a training as it travels: what it consists of, in which parts, and what of it is believed.

A `Snapshot` is parameters and optimizer statistics by name, and the epoch they belong to. Whoever downloads one first
gets its `Offer`, which says all shapes and dtypes; from it both sides compute the same parts, each a message of at most
`part_bytes`. Pure values: who asks whom is said in `donor` and `download`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Final, NamedTuple, TypeAlias

import msgspec
import torch
from msgspec import Meta

from strobe.errors import Error
from strobe.swarm.client.size import most_bytes
from strobe.swarm.net.network import Payload, Pieces
from strobe.swarm.tensors import Bounds, MalformedTensors, TensorSpec, decode, encode, is_finite
from strobe.swarm.tensors.dtypes import dtype_of
from strobe.swarm.tensors.layout import ITEM_BYTES, size_of

#: what an optimizer remembers besides tensors
Scalar: TypeAlias = bool | int | float | str | None

#: how names of parameters begin; nothing else is ever compressed: a variance that is rounded to zero, or below it,
#: makes the next step huge, or NaN
PARAMETERS: Final = "param."

LEAST_PART_BYTES: Final = 64 << 10
MOST_PART_BYTES: Final = 128 << 20
_TENSORS_PER_PART: Final = 1024
_MAX_TENSORS: Final = 1 << 20
#: of an offer; more is not read
MAX_OFFER_BYTES: Final = 64 << 20
_MAX_RANK: Final = 8


class StateMismatch(Error):
    """A state is not one of this training, or not what it said it was."""


class Offer(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a download will bring, without the values. The token names it in what is asked next."""

    token: Annotated[str, Meta(min_length=1, max_length=64)]
    epoch: Annotated[int, Meta(ge=0, le=1 << 40)]
    part_bytes: Annotated[int, Meta(ge=LEAST_PART_BYTES, le=MOST_PART_BYTES)]
    tensors: Annotated[dict[str, TensorSpec], Meta(max_length=_MAX_TENSORS)]
    scalars: Annotated[dict[str, Scalar], Meta(max_length=_MAX_TENSORS)]


_decode_offer = msgspec.json.Decoder(Offer).decode


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A state at one moment; nobody changes its tensors."""

    epoch: int
    tensors: Mapping[str, torch.Tensor]
    scalars: Mapping[str, Scalar] = field(default_factory=dict)

    @property
    def specs(self) -> dict[str, TensorSpec]:
        return {name: TensorSpec.of(tensor) for name, tensor in self.tensors.items()}


class Piece(NamedTuple):
    """Elements of one flattened tensor."""

    name: str
    begin: int
    end: int


def parts_of(specs: Mapping[str, TensorSpec], part_bytes: int) -> list[list[Piece]]:
    """Return which pieces travel together: in order, as much as fits, large tensors cut."""
    parts: list[list[Piece]] = []
    room = 0
    for piece, num_bytes in _pieces(specs, part_bytes):
        if num_bytes > room or len(parts[-1]) == _TENSORS_PER_PART:
            parts.append([])
            room = part_bytes
        parts[-1].append(piece)
        room -= num_bytes
    return parts


def encode_offer(offer: Offer) -> bytes:
    return msgspec.json.encode(offer)


def parse_offer(payload: Payload) -> Offer:
    """Return an offer whose every tensor can exist; StateMismatch if it is none."""
    try:
        offer = _decode_offer(payload)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as exc:
        raise StateMismatch(f"an offer that is none: {exc}") from exc
    for name, spec in offer.tensors.items():
        is_sane = len(spec.shape) <= _MAX_RANK and all(size >= 0 for size in spec.shape)
        if spec.dtype not in ITEM_BYTES or not is_sane or not 1 <= len(name) <= 128:
            raise StateMismatch(f"an offer of a tensor {name!r:.80} that is {spec!s:.200}")
    return offer


def encode_part(snapshot: Snapshot, part: Sequence[Piece], compression: str) -> Pieces:
    """Return one part as a payload; NotFinite if that compression cannot carry it.

    A part that has anything but parameters travels as it is: see `PARAMETERS`.
    """
    if not all(piece.name.startswith(PARAMETERS) for piece in part):
        compression = "none"
    flat = {piece.name: snapshot.tensors[piece.name].view(-1)[piece.begin : piece.end] for piece in part}
    return encode(flat, compression=compression)


class Assembly:
    """A download on its way: memory for all that was offered, filled part by part."""

    def __init__(self, offer: Offer) -> None:
        self.parts = parts_of(offer.tensors, offer.part_bytes)
        self._offer = offer
        self._bounds = Bounds(
            max_bytes=offer.part_bytes, max_header_bytes=1 << 20, max_tensors=2 * _TENSORS_PER_PART, max_rank=1
        )
        self._tensors = {
            name: torch.empty(spec.shape, dtype=dtype_of(spec.dtype)) for name, spec in offer.tensors.items()
        }

    def most_bytes(self, number: int) -> int:
        """Return how long one part may be on the wire."""
        return most_bytes(self._specs(number).values(), self._bounds)

    def _specs(self, number: int) -> dict[str, TensorSpec]:
        specs = self._offer.tensors
        return {
            piece.name: TensorSpec(specs[piece.name].dtype, (piece.end - piece.begin,)) for piece in self.parts[number]
        }

    def fill(self, number: int, payload: Payload) -> None:
        """Take one part; StateMismatch unless it is exactly what was offered, and finite."""
        try:
            message = decode(payload, self._bounds)
            if dict(message.specs) != self._specs(number):
                raise StateMismatch(f"part {number} has other tensors than were offered")
            values = message.tensors()
        except MalformedTensors as exc:
            raise StateMismatch(f"part {number} cannot be read: {exc}") from exc
        for piece in self.parts[number]:
            if not is_finite(values[piece.name]):
                raise StateMismatch(f"part {number} has NaN or infinite values in {piece.name}")
            self._tensors[piece.name].view(-1)[piece.begin : piece.end] = values[piece.name]

    def snapshot(self) -> Snapshot:
        """Return the state, once every part was taken."""
        return Snapshot(self._offer.epoch, self._tensors, self._offer.scalars)


def _pieces(specs: Mapping[str, TensorSpec], part_bytes: int) -> Iterator[tuple[Piece, int]]:
    for name, spec in specs.items():
        length, item_bytes = math.prod(spec.shape), ITEM_BYTES[spec.dtype]
        most = part_bytes // item_bytes
        for begin in range(0, length, most):
            end = min(begin + most, length)
            yield Piece(name, begin, end), size_of(spec.dtype, (end - begin,))
