"""What peers say to each other about groups, and what of it is believed.

    averaging.join   let me into your group; answers at once, or when there is news: wait, ask that one, or begin
    averaging.part   my values of a part of your share (or none); answers the average, when everybody's are there
    averaging.alive  are you still in this round? Refused if not; asked of those who take long
    averaging.leave  I have all I need, or give up: do not wait for me

`part` has tensors and is laid out as all tensors on the wire; the others are msgpack arrays, checked while they are
decoded. Whatever does not fit raises `Malformed`.
"""

from __future__ import annotations

from typing import Annotated, Final, TypeVar

import msgspec
from msgspec import Meta

from strobe.errors import UsageError
from strobe.swarm.averaging.group import Group, Member, Role
from strobe.swarm.dht.value import Undecodable, unpack
from strobe.swarm.net.address import Address
from strobe.swarm.net.network import Payload

JOIN, PART, ALIVE, LEAVE = "averaging.join", "averaging.part", "averaging.alive", "averaging.leave"
#: the words of a part's metadata: the round and its prefix, which part of the share; in answers: whose values are not
#: in it
GROUP, PREFIX, NUMBER, MISSING = "group", "prefix", "number", "missing"
#: the tensor of a part
VALUES: Final = "values"

MAX_GATHERED_BYTES: Final = 64 << 10
MAX_MEMBERS: Final = 1024
MAX_PREFIX: Final = 256
#: sums over a group, and ratios to them, stay numbers
MAX_BANDWIDTH: Final = 1e12
#: beside one so heavy, which may deliver nothing, values of weight 1 are still far above the least float32
MAX_WEIGHT: Final = 1e15
#: all of a `join`, or of what is said about a round
MAX_JOIN_BYTES: Final = MAX_GATHERED_BYTES + (8 << 10)
MAX_IN_ROUND_BYTES: Final = 2 << 10
#: the news that a group of as many as can be has begun
MAX_NEWS_BYTES: Final = MAX_MEMBERS * (MAX_GATHERED_BYTES + (2 << 10))
GROUP_ID_BYTES: Final = 16
SCHEMA_BYTES: Final = 20

_Address = Annotated[str, Meta(max_length=1024)]
_Prefix = Annotated[str, Meta(max_length=MAX_PREFIX)]
_GroupId = Annotated[bytes, Meta(min_length=GROUP_ID_BYTES, max_length=GROUP_ID_BYTES)]


class Malformed(ValueError):
    """A message is not one that a peer of this protocol sends."""


class Message(msgspec.Struct, array_like=True, frozen=True):
    """Base of all messages."""


class WireMember(Message, frozen=True):
    address: _Address
    weight: float
    bandwidth: float
    role: Role
    gathered: Annotated[bytes, Meta(max_length=MAX_GATHERED_BYTES)]


class Join(Message, frozen=True):
    """`schema` stands for what must be alike in a group; of two peers, the one with the earlier deadline leads."""

    prefix: _Prefix
    schema: Annotated[bytes, Meta(min_length=SCHEMA_BYTES, max_length=SCHEMA_BYTES)]
    deadline: float
    member: WireMember


class Wait(Message, frozen=True, tag="wait"):
    """You are in; ask again for news."""


class Moved(Message, frozen=True, tag="moved"):
    """I follow another: ask that one."""

    address: _Address
    deadline: float


class Begin(Message, frozen=True, tag="begin"):
    id: _GroupId
    members: Annotated[list[WireMember], Meta(max_length=MAX_MEMBERS)]


class InRound(Message, frozen=True):
    """Of `alive` and `leave`: which round it is about, of the averagers with which prefix."""

    group: _GroupId
    prefix: _Prefix


News = Wait | Moved | Begin
_Kind = TypeVar("_Kind")

_encoder = msgspec.msgpack.Encoder()
_join_decoder = msgspec.msgpack.Decoder(Join)
_news_decoder: msgspec.msgpack.Decoder[News] = msgspec.msgpack.Decoder(News)
_in_round_decoder = msgspec.msgpack.Decoder(InRound)

encode = _encoder.encode


def decode_join(payload: Payload) -> Join:
    return _decoded(_join_decoder, payload)


def decode_news(payload: Payload) -> News:
    return _decoded(_news_decoder, payload)


def decode_in_round(payload: Payload) -> InRound:
    return _decoded(_in_round_decoder, payload)


def _decoded(decoder: msgspec.msgpack.Decoder[_Kind], payload: Payload) -> _Kind:
    try:
        return decoder.decode(payload)
    except (msgspec.DecodeError, ValueError, RecursionError) as exc:  # ValueError: text that is not UTF-8
        raise Malformed(f"no such message: {exc}") from exc


def wire_member(member: Member) -> WireMember:
    return WireMember(str(member.address), member.weight, member.bandwidth, member.role, member.gathered)


def parse_address(text: str) -> Address:
    """Return the address; Malformed if it is none."""
    try:
        return Address.parse(text)
    except UsageError as exc:
        raise Malformed(str(exc)) from exc


def parse_member(wire: WireMember) -> Member:
    """Return a member whose numbers make sense and whose `gathered` can be opened."""
    if not (0 <= wire.weight <= MAX_WEIGHT and 0 < wire.bandwidth <= MAX_BANDWIDTH):
        raise Malformed(f"a member of weight {wire.weight} and bandwidth {wire.bandwidth}")
    try:
        unpack(wire.gathered)
    except Undecodable as exc:
        raise Malformed(f"a member gathers what cannot be opened: {exc}") from exc
    return Member(
        address=parse_address(wire.address),
        weight=wire.weight,
        bandwidth=wire.bandwidth,
        role=wire.role,
        gathered=wire.gathered,
    )


def begin(group: Group) -> Begin:
    return Begin(group.id, [wire_member(member) for member in group.members])


def parse_group(message: Begin) -> Group:
    """Return a group in which nobody is twice and somebody reduces."""
    group = Group(message.id, tuple(parse_member(wire) for wire in message.members))
    if len(group.places) != len(group.members):
        raise Malformed("a group names a member twice")
    if not any(member.reduces for member in group.members):
        raise Malformed("a group in which nobody reduces")
    return group
