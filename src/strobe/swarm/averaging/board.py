"""The notice board of those who look for groups: records of the DHT under the keys of `key`.

Each peer has one entry per key, which it replaces. What is read was written by strangers, so what makes no sense counts
as absent.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import Any, Final

from strobe.swarm.averaging import key
from strobe.swarm.averaging.lobby import Candidate
from strobe.swarm.averaging.protocol import Malformed, parse_address
from strobe.swarm.dht import Node, ValueWithExpiration
from strobe.swarm.net.address import Address
from strobe.swarm.net.network import PeerId

_log = logging.getLogger("strobe.swarm.averaging")
_MAX_WARNINGS: Final = 100


class Board:
    """The entries of one prefix, each for `life_s`; `schema` stands for what must be alike in a group."""

    def __init__(self, node: Node, prefix: str, schema: bytes, life_s: float) -> None:
        self._node = node
        self._prefix = prefix
        self._schema = schema
        self._life_s = life_s
        self._me = node.network.address
        self._expiration = 0.0
        self._warned_of: set[PeerId] = set()

    async def count(self) -> int:
        """Return how many look for groups, or did so lately."""
        return len(_entries(await self._node.get(key.census_key(self._prefix), latest=True)))

    async def declare(self, group_key: str, deadline: float) -> None:
        """Say that this peer looks for a group under a key, and would lead it, until the deadline."""
        await self._store({group_key: (str(self._me), deadline, self._schema)})

    async def withdraw(self, keys: Iterable[str]) -> None:
        """Say that this peer looks there no more, but has looked."""
        await self._store({**dict.fromkeys(keys), key.census_key(self._prefix): True})

    async def read(self, keys: list[str]) -> list[Candidate]:
        """Return who would lead a group under these keys."""
        records = await self._node.get_many(keys, latest=True)
        found = (
            self._candidate(peer_id, entry)
            for record in records.values()
            for peer_id, entry in _entries(record).items()
        )
        return [candidate for candidate in found if candidate is not None]

    async def _store(self, words: Mapping[str, Any]) -> None:
        # Later than the one before, which it must replace.
        self._expiration = max(self._node.clock() + self._life_s, self._expiration + 1e-3)
        await self._node.store_many(list(words), list(words.values()), self._expiration, [self._me.id] * len(words))

    def _candidate(self, peer_id: object, entry: object) -> Candidate | None:
        value = entry.value if isinstance(entry, ValueWithExpiration) else None
        if not isinstance(value, tuple) or len(value) != 3:
            return None
        text, deadline, schema = value
        if not isinstance(text, str) or not isinstance(deadline, float):
            return None
        try:
            address = parse_address(text)
        except Malformed:
            return None
        if schema != self._schema:
            self._warn(address)
            return None
        return Candidate(address, deadline) if address.id == peer_id else None

    def _warn(self, address: Address) -> None:
        if address.id not in self._warned_of and len(self._warned_of) < _MAX_WARNINGS:
            self._warned_of.add(address.id)
            _log.warning(
                "%s averages %r too, but its tensors, part_bytes or compression differ: it is left out",
                address,
                self._prefix,
            )


def _entries(record: ValueWithExpiration | None) -> Mapping[object, object]:
    return record.value if record is not None and isinstance(record.value, dict) else {}
