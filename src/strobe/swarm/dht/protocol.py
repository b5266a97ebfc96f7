"""What peers say to each other about records: four requests, their answers, and what of it is believed.

    ping   are you there, what time is it, where do you see me
    meet   these are near to you, and you seem not to know them
    find   what do you hold for these keys, and whom do you know nearest to them
    store  hold these records; tell me if you know others nearer to a key than I do

Requests begin with `since`: when the sender began to answer requests itself, so that others may remember it, and give
it records that are older than that; 0 for one that only asks. Each message is a msgpack array. Types, sizes and counts
are checked while it is decoded; whatever does not fit raises `Malformed`, the only exception that leaves `decode`. A
peer's list of contacts names each contact once; keys refer to it by position.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache, reduce
from ipaddress import IPv4Address, IPv6Address, ip_address
from operator import xor
from typing import Annotated, Any, Final, TypeVar

import msgspec
from msgspec import Meta

from strobe.swarm.dht.id import SIZE
from strobe.swarm.net.network import Payload

PING, MEET, FIND, STORE = "dht.ping", "dht.meet", "dht.find", "dht.store"

#: how many keys one message is about, at most
MAX_KEYS: Final = 128
#: how many contacts an answer names per key, at most
MAX_NEAREST: Final = 32
_MASK: Final = (1 << 63) - 1
#: how many values and subkeys, of all its keys together
MAX_ENTRIES: Final = 8192
MAX_VALUE_BYTES: Final = 1 << 20
#: of the records that an answer brings, unless there is only one
MAX_FOUND_BYTES: Final = 1 << 20
MAX_SUBKEY_BYTES: Final = 4096

Place = Annotated[bytes, Meta(min_length=SIZE, max_length=SIZE)]
_Position = Annotated[int, Meta(ge=0, lt=4096)]
_Agreement = Annotated[int, Meta(ge=0)]
_Time = Annotated[float, Meta(ge=0, le=1 << 40)]  # in seconds; no peer's clock says infinity, or no number
_Subkey = Annotated[bytes, Meta(max_length=MAX_SUBKEY_BYTES)]
_Value = Annotated[bytes, Meta(max_length=MAX_VALUE_BYTES)]
_Host = Annotated[str, Meta(max_length=45)]
_Port = Annotated[int, Meta(ge=1, le=65535)]
#: (subkey, value, expiration); a plain value has the empty subkey
WireEntry = tuple[_Subkey, _Value, float]
WireContact = tuple[Place, _Host, _Port]
_Nearest = Annotated[list[_Position], Meta(max_length=MAX_NEAREST)]
_Entries = Annotated[list[WireEntry], Meta(max_length=MAX_ENTRIES)]
_Contacts = Annotated[list[WireContact], Meta(max_length=MAX_KEYS * MAX_NEAREST)]


class Malformed(ValueError):
    """A message is not one that a peer of this protocol sends."""


class Message(msgspec.Struct, array_like=True, gc=False):
    """Base of all messages: arrays on the wire, and no work for the garbage collector."""


class Ping(Message):
    """Asks for a Pong. `is_greeted`: and for a Ping of the other's own, before it: the caller is new in the swarm."""

    since: _Time
    is_greeted: bool = False


class Pong(Message):
    """The time of the peer, and where it sees the caller."""

    time: _Time
    host: _Host
    port: _Port


class Meet(Message):
    """Contacts that the receiver may want to ping; it answers with a Pong."""

    since: _Time
    contacts: Annotated[list[WireContact], Meta(max_length=MAX_NEAREST)]


class Find(Message):
    """`count`: how many contacts to name per key. `is_latest`: name them even for keys whose record is there.

    `agreements`: per key, what stands for the `count` nearest that the sender knows; a peer that comes to the same
    names nobody. `most_bytes`: how much of records to send; of those that are larger, only their sizes.
    """

    since: _Time
    count: Annotated[int, Meta(ge=1, le=MAX_NEAREST)]
    is_latest: bool
    keys: Annotated[list[Place], Meta(max_length=MAX_KEYS)]
    agreements: Annotated[list[_Agreement], Meta(max_length=MAX_KEYS)]
    most_bytes: Annotated[int, Meta(ge=0)] = MAX_FOUND_BYTES << 10


class Found(Message):
    """Per key: the entries of its record (none: not held), and the nearest peers as positions in `contacts`.

    An answer that would get too large is about the first keys only; ask again about the others. `sizes`: by position of
    the key, of records that are held and larger than what was asked for.
    """

    records: Annotated[list[_Entries], Meta(max_length=MAX_KEYS)]
    nearest: Annotated[list[_Nearest], Meta(max_length=MAX_KEYS)]
    contacts: _Contacts
    sizes: Annotated[dict[_Position, Annotated[int, Meta(ge=1)]], Meta(max_length=MAX_KEYS)] = {}


class StoreItem(Message):
    """Entries of one key. `agreement` stands for the peers that should hold it, as far as the sender knows; a peer
    that comes to the same has nothing to add and names nobody."""

    key: Place
    agreement: _Agreement
    entries: Annotated[list[WireEntry], Meta(min_length=1, max_length=MAX_ENTRIES)]


class Store(Message):
    """`is_cache`: the receiver need not be near the keys; it may keep the records for those who ask it."""

    since: _Time
    is_cache: bool
    items: Annotated[list[StoreItem], Meta(max_length=MAX_KEYS)]


#: what becomes of an entry that was sent: refused for a newer one, stored, or already there
REFUSED, STORED, SAME = 0, 1, 2


class Stored(Message):
    """Per entry, in order, one byte of REFUSED, STORED, SAME. Per item: peers that should hold it, if not agreed."""

    outcomes: bytes
    nearest: Annotated[dict[_Position, _Nearest], Meta(max_length=MAX_KEYS)]
    contacts: _Contacts


#: all contacts that an answer can name, 76 bytes each with what refers to it; and what else it says, rounded up
_NAMES_BYTES: Final = MAX_KEYS * MAX_NEAREST * 80
_REST_BYTES: Final = 16 << 10


def longest_answers(max_record_bytes: int) -> dict[type[Message], int]:
    """Return how long answers are, by kind, of peers whose records are no larger than this."""
    return {
        Pong: _REST_BYTES,
        Found: max(MAX_FOUND_BYTES, max_record_bytes) + _NAMES_BYTES + _REST_BYTES,
        Stored: MAX_ENTRIES + _NAMES_BYTES + _REST_BYTES,
    }


_Kind = TypeVar("_Kind", bound=Message)
_encoder = msgspec.msgpack.Encoder()
_decoders: Final[dict[type[Message], msgspec.msgpack.Decoder[Any]]] = {
    kind: msgspec.msgpack.Decoder(kind) for kind in (Ping, Pong, Meet, Find, Found, Store, Stored)
}

encode = _encoder.encode


def decode(kind: type[_Kind], payload: Payload) -> _Kind:
    """Return the message; Malformed if it is anything else."""
    try:
        message: _Kind = _decoders[kind].decode(payload)
    except (msgspec.DecodeError, ValueError, RecursionError) as exc:  # ValueError: text that is not UTF-8
        raise Malformed(f"not a {kind.__name__}: {exc}") from exc
    return message


#: what no set of peers comes to
NO_AGREEMENT: Final = 0


def agreement(peers: Iterable[int]) -> int:
    """Return a number that two peers share if they mean the same set of peers."""
    return reduce(xor, peers, 0) & _MASK


def check_positions(positions: Iterable[int], contacts: list[WireContact]) -> None:
    """Raise Malformed if a key refers to a contact that was not named."""
    if any(position >= len(contacts) for position in positions):
        raise Malformed(f"a key refers to a contact beyond the {len(contacts)} that were named")


@lru_cache(maxsize=65536)
def is_believable(host: str, source: str) -> bool:
    """Whether a peer at `source` may name a contact at `host`.

    Hosts must be numeric, so that nobody makes us look up names. Peers elsewhere cannot point at our own machine, nor
    peers in the open at what is in our network only: they would have us knock where they cannot.
    """
    named, by = _address(host), _address(source)
    if named is None or by is None or named.is_unspecified or named.is_multicast:
        return False
    if named.is_loopback:
        return by.is_loopback
    return named.is_global or not by.is_global


@lru_cache(maxsize=1024)
def is_loopback(host: str) -> bool:
    """Whether a host is the machine itself."""
    return (address := _address(host)) is not None and address.is_loopback


def is_numeric(host: str) -> bool:
    """Whether a host is an address that every peer understands: no name, and no part of one machine's own."""
    return "%" not in host and _address(host) is not None


def _address(host: str) -> IPv4Address | IPv6Address | None:
    """Return a numeric host, without the clothes that IPv4 wears on an IPv6 socket; None for a name."""
    try:
        address = ip_address(host)
    except ValueError:
        return None
    return address if isinstance(address, IPv4Address) else address.ipv4_mapped or address
