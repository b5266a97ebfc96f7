"""Finding many records: the nearest peer known is asked first; if it lacks the record, it names nearer ones.

With `enough` = now the first value that has not expired will do, from whatever cache. With `enough` = infinity all of
the nearest peers are asked and what they hold is merged: the newest plain value, or the newest of each subkey. Of a
large record peers tell the size first, so that it is known how long to wait for it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from strobe.swarm.dht.exchange import Exchange
from strobe.swarm.dht.id import number
from strobe.swarm.dht.lookup import Lookup
from strobe.swarm.dht.protocol import FIND, MAX_ENTRIES, Find, Found, Malformed, WireEntry, agreement
from strobe.swarm.dht.storage import Record, Rules, Storage
from strobe.swarm.dht.validator import RawRecord, RecordValidator, check_in_slices
from strobe.swarm.dht.walk import Errand, Walk
from strobe.swarm.net.network import Contact


@dataclass(frozen=True, slots=True)
class Findings:
    """What was found; and for keys that were found, the peers that should have known them, nearest first."""

    records: dict[bytes, Record]
    lacking: dict[bytes, list[Contact]] = field(default_factory=dict)


class Reader:
    """Reads records out of the swarm."""

    def __init__(
        self,
        exchange: Exchange,
        *,
        beam_size: int,
        window: int,
        overdue_s: float,
        rules: Rules,
        validator: RecordValidator | None = None,
    ) -> None:
        self._exchange = exchange
        self._rules = rules
        self._beam_size = beam_size
        self._window = window
        self._overdue_s = overdue_s
        self.validator = validator

    async def find(self, keys: list[bytes], enough: float) -> Findings:
        """Look for keys until their records live until `enough`, or all near peers were asked."""
        # Someone who wants the newest asks everybody anyway; others often have their answer at the first or second.
        patience = 1 if enough == math.inf else 2
        search = _Search(self._exchange, keys, enough, self._rules, self.validator, self._beam_size, patience)
        await self._walk(search)
        return search.findings()

    async def explore(self, target: bytes, width: int, via: Sequence[Contact] = ()) -> dict[Contact, list[Contact]]:
        """Get to know the peers nearest to a place, and let them know us; return who of them lacks which others.

        With `via`, only these are asked first: they may be of a swarm whose peers nobody near us has heard of.
        """
        search = _Search(self._exchange, [target], math.inf, self._rules, self.validator, width, 1, via)
        await self._walk(search, waits_for_all=True)
        return search.strangers()

    async def _walk(self, search: _Search, *, waits_for_all: bool = False) -> None:
        lookup, window, overdue_s = search.lookup, self._window, self._overdue_s
        walk = Walk(
            lookup,
            search.ask,
            window=window,
            overdue_s=overdue_s,
            waits_for_all=waits_for_all,
            is_missing=search.is_missing,
        )
        self._exchange.give_up(await walk.run())


class _Search:
    """One call of `find`: the walk's state, and what has been found so far."""

    def __init__(
        self,
        exchange: Exchange,
        keys: list[bytes],
        enough: float,
        rules: Rules,
        validator: RecordValidator | None,
        width: int,
        patience: int,
        via: Sequence[Contact] = (),
    ) -> None:
        self._exchange = exchange
        self._keys = keys
        self._enough = enough
        self._max_record_bytes = rules.max_record_bytes
        self._validator = validator
        self._found = Storage(rules)  # merging what peers hold follows the same rules as storing it
        self._lacking: dict[bytes, list[int]] = {}
        self._named: dict[int, set[bytes]] = {}
        self._targets = [number(key) for key in keys]
        self.lookup = Lookup(self._targets, width=width, patience=patience)
        now = exchange.clock()
        if via:
            self.lookup.contacts.update((number(contact.id), contact) for contact in via)
        for index, target in enumerate(self._targets):
            known = list(self.lookup.contacts) if via else exchange.peers.nearest(target, width, now)
            exchange.start(self.lookup, index, known)

    async def ask(self, errand: Errand) -> None:
        """Ask one peer about some of the keys."""
        peer, left, contact = errand.peer, errand.indexes, errand.contact
        assert contact is not None, "nobody asks itself"
        large: list[tuple[int, int]] = []
        while left:
            answer = await self._exchange.ask(contact, FIND, self._question(left), Found)
            num_answered = len(answer.records)
            if not 0 < num_answered <= len(left) or len(answer.nearest) != num_answered:
                raise Malformed(f"{num_answered} records, {len(answer.nearest)} lists of peers for {len(left)} keys")
            if (num_entries := sum(map(len, answer.records))) > MAX_ENTRIES:
                raise Malformed(f"{num_entries} entries in one answer; at most {MAX_ENTRIES} are allowed")
            records = answer.records
            if self._validator is not None:
                records = await self._valid(self._validator, left, records)
            if answer.nearest[0]:
                self._named[peer] = {place for place, _, _ in answer.contacts}
            large += [(left[position], size) for position, size in answer.sizes.items() if position < num_answered]
            for position, (index, entries) in enumerate(zip(left, records, strict=False)):
                if position not in answer.sizes:
                    self._take(peer, index, entries)
            self._exchange.learn(self.lookup, list(zip(left, answer.nearest, strict=False)), answer.contacts, contact)
            left = left[num_answered:]
            if left:
                errand.is_coming()
        for index, size in large:
            if not self.lookup.is_finished(index):
                errand.is_coming(self._exchange.extra_s(size))
                self._take(peer, index, await self._fetch(contact, index, size))

    async def _fetch(self, contact: Contact, index: int, size: int) -> list[WireEntry]:
        """Return a record that a peer says to have, and to be so large."""
        if size > self._max_record_bytes:
            raise Malformed(f"a record of {size} bytes; at most {self._max_record_bytes} are allowed")
        question = self._question([index], self._max_record_bytes)
        answer = await self._exchange.ask(contact, FIND, question, Found, answer_bytes=size)
        if len(answer.records) != 1 or len(answer.records[0]) > MAX_ENTRIES:
            raise Malformed(f"{len(answer.records)} records, or too many entries, for one key")
        if self._validator is None:
            return answer.records[0]
        return (await self._valid(self._validator, [index], answer.records))[0]

    def is_missing(self, indexes: list[int]) -> bool:
        """Whether nothing has been found yet of some of these keys."""
        return any(self._keys[index] not in self._found for index in indexes)

    def _question(self, indexes: list[int], most_bytes: int = 0) -> Find:
        return Find(
            self._exchange.since,
            self.lookup.width,
            self._enough == math.inf,
            [self._keys[index] for index in indexes],
            [agreement(self._nearest(index)) for index in indexes],
            most_bytes or self._exchange.min_bytes_per_s,
        )

    def strangers(self) -> dict[Contact, list[Contact]]:
        """Return, of the nearest to the first key, those who named others than we found, and whom they lack."""
        contacts = self.lookup.contacts
        nearest = self.lookup.nearest(0)
        lacks = {
            peer: [other for other in nearest if other != peer and contacts[other].id not in self._named[peer]]
            for peer in nearest
            if peer in self._named
        }
        return {contacts[peer]: [contacts[other] for other in others] for peer, others in lacks.items() if others}

    def findings(self) -> Findings:
        """Return what has been found."""
        now = self._exchange.clock()
        records = {key: record for key in self._keys if (record := self._found.get(key, now)) is not None}
        lacking = {
            key: [self.lookup.contacts[peer] for peer in sorted(self._lacking.get(key, ()), key=target.__xor__)]
            for key, target in zip(self._keys, self._targets, strict=True)
            if key in records
        }
        return Findings(records, lacking)

    async def _valid(
        self, validator: RecordValidator, indexes: list[int], records: list[list[WireEntry]]
    ) -> list[list[WireEntry]]:
        """Return records without the entries that break the rules."""
        raw = [
            RawRecord(self._keys[index], *entry)
            for index, entries in zip(indexes, records, strict=False)
            for entry in entries
        ]
        verdicts = iter(await check_in_slices(validator, raw))
        return [[entry for entry in entries if next(verdicts)] for entries in records]

    def _take(self, peer: int, index: int, entries: list[WireEntry]) -> None:
        key, now, source = self._keys[index], self._exchange.clock(), self.lookup.contacts[peer].id
        for subkey, value, expires in entries:
            self._found.put(key, value, expires, now, subkey, source)
        record = self._found.get(key, now)
        if not entries:
            self._lacking.setdefault(key, []).append(peer)
        if record is not None and record.expires >= self._enough:
            self.lookup.finish(index)

    def _nearest(self, index: int) -> list[int]:
        """Return the nearest that we know, ourselves included, as others see it."""
        nearest = self.lookup.nearest(index)
        if self._exchange.serves:
            nearest = sorted([*nearest, self._exchange.peers.table.own_id], key=self._targets[index].__xor__)
        return nearest[: self.lookup.width]
