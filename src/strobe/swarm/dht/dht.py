"""The DHT as an object to use: a peer of a swarm that lives in the background of this program.

Each call waits for its result; with `return_future=True` it gives a Reply at once, to be waited for with `result()` or
awaited. The same object serves ordinary code, threads and coroutines.

    with DHT(["strobe://…@203.0.113.7:4000"]) as dht:
        dht.store("key", {"any": ("msgpack", 1.0)}, get_dht_time() + 60)
        dht.get("key")
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import time
import weakref
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, TypeVar, overload

from strobe.errors import UsageError
from strobe.swarm.dht.host import DhtStopped, Host, Job, Plan, ThreadHost
from strobe.swarm.dht.node import Node
from strobe.swarm.dht.opened import ValueWithExpiration
from strobe.swarm.dht.options import Options
from strobe.swarm.dht.process import ProcessHost
from strobe.swarm.dht.reply import Reply
from strobe.swarm.dht.validator import RecordValidator
from strobe.swarm.net.address import Address
from strobe.swarm.net.cipher import AES_GCM, Suite
from strobe.swarm.net.limits import Limits
from strobe.swarm.net.network import PeerId
from strobe.swarm.net.relay.limits import RelayLimits

_Result = TypeVar("_Result")
_Value = ValueWithExpiration | None
_START_S = 30.0

#: the clock that expirations are counted on, in seconds
get_dht_time = time.time


class DHT:
    """A peer of a swarm. Without `initial_peers` it is the first of a new one.

    `process=True` gives the peer a process of its own, which a program that keeps Python busy may want; otherwise it
    lives in a thread. `hosts` are the addresses to listen at. By default they are those where the initial peers and the
    relays reach this one: all that the machine has, or only 127.0.0.1 (::1) if those are on this machine themselves, or
    if there are none. `limits` bound what others may ask of it; `suite` is how peers of the swarm seal what they say,
    the same for all.

    `relay` offers to pass on what is for peers that others cannot reach. `relays` are peers that do so for this one if
    it is not `reachable`, which it finds out from them unless it is told; such a peer is in client mode.
    """

    def __init__(
        self,
        initial_peers: Iterable[str | Address] = (),
        *,
        start: bool = True,
        hosts: Sequence[str] | None = None,
        port: int = 0,
        announce: Sequence[str] = (),
        identity_path: str | Path | None = None,
        client_mode: bool = False,
        process: bool = False,
        validators: Sequence[RecordValidator] = (),
        options: Options | None = None,
        limits: Limits | None = None,
        suite: Suite = AES_GCM,
        relay: RelayLimits | bool = False,
        relays: Iterable[str | Address] = (),
        reachable: bool | None = None,
    ) -> None:
        for name, given in (
            ("initial_peers", initial_peers),
            ("hosts", hosts),
            ("announce", announce),
            ("relays", relays),
        ):
            if isinstance(given, (str, Address)):
                raise UsageError(f"{name} is a list, also of one: {name}=[{str(given)!r}]")
        options = options or Options()
        self._plan = Plan(
            initial_peers=tuple(str(peer) for peer in initial_peers),
            hosts=None if hosts is None else tuple(hosts),
            port=port,
            announce=tuple(announce),
            identity_path=Path(identity_path) if identity_path is not None else None,
            options=replace(options, client_mode=True) if client_mode else options,
            validators=tuple(validators),
            limits=limits,
            suite=suite,
            relay=relay,
            relays=tuple(str(each) for each in relays),
            reachable=reachable,
        )
        self._new_host: Callable[[Plan], Host] = ProcessHost if process else ThreadHost
        self._host: Host | None = None
        self._address: Address | None = None
        self._pid = os.getpid()
        if start:
            self.start()

    def start(self, timeout_s: float = _START_S) -> None:
        """Join the swarm; the constructor has done so unless it was told not to. If it fails it can be tried again."""
        if self._host is not None:
            return
        host = self._new_host(self._plan)
        try:
            self._address = host.start().result(timeout_s)
        except BaseException:
            _give_up(host)
            raise
        self._take(host)

    def _take(self, host: Host) -> None:
        self._host = host
        # A DHT that nobody can shut down any more, as after a notebook's cell was run again, ends by itself.
        weakref.finalize(self, _abandon, host, self._pid).atexit = False

    def shutdown(self, timeout_s: float = 10.0) -> None:
        """Leave the swarm and free the port. What is under way fails; twice does no harm."""
        if self._host is not None and os.getpid() == self._pid:
            self._host.stop(timeout_s)

    def __enter__(self) -> DHT:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.shutdown()

    async def __aenter__(self) -> DHT:
        """Join the swarm while the caller's loop goes on, if the constructor was told not to."""
        if self._host is None:
            host = self._new_host(self._plan)
            try:
                self._address = await asyncio.wait_for(host.start(), _START_S)
            except BaseException:
                await asyncio.to_thread(_give_up, host)
                raise
            self._take(host)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self.shutdown)

    @property
    def address(self) -> Address:
        """Where others reach this peer now: what they take as an initial peer, if it is no client."""
        if self._host is None or self._address is None:
            raise UsageError("this DHT has not started; call start()")
        self._address = self._host.address() or self._address
        return self._address

    @property
    def peer_id(self) -> PeerId:
        """Who this peer is."""
        return self.address.id

    @property
    def client_mode(self) -> bool:
        """Whether this peer only asks."""
        return self._plan.options.client_mode or self._plan.reachable is False or self.address.relay is not None

    @overload
    def store(
        self, key: Any, value: Any, expiration_time: float, subkey: Any = ..., *, return_future: Literal[False] = ...
    ) -> bool: ...
    @overload
    def store(
        self, key: Any, value: Any, expiration_time: float, subkey: Any = ..., *, return_future: Literal[True]
    ) -> Reply[bool]: ...
    def store(
        self, key: Any, value: Any, expiration_time: float, subkey: Any = None, *, return_future: bool = False
    ) -> bool | Reply[bool]:
        """Store a value, or a subkey of a dictionary, until `expiration_time`; return whether it is now the newest."""
        job = functools.partial(Node.store, key=key, value=value, expiration_time=expiration_time, subkey=subkey)
        return self._run(job, return_future)

    @overload
    def store_many(
        self,
        keys: Sequence[Any],
        values: Sequence[Any],
        expiration_time: float | Sequence[float],
        subkeys: Sequence[Any] | None = ...,
        *,
        return_future: Literal[False] = ...,
    ) -> dict[Any, bool]: ...
    @overload
    def store_many(
        self,
        keys: Sequence[Any],
        values: Sequence[Any],
        expiration_time: float | Sequence[float],
        subkeys: Sequence[Any] | None = ...,
        *,
        return_future: Literal[True],
    ) -> Reply[dict[Any, bool]]: ...
    def store_many(
        self,
        keys: Sequence[Any],
        values: Sequence[Any],
        expiration_time: float | Sequence[float],
        subkeys: Sequence[Any] | None = None,
        *,
        return_future: bool = False,
    ) -> dict[Any, bool] | Reply[dict[Any, bool]]:
        """Store many values at once, which costs far less; return by key, or (key, subkey), what `store` would."""
        job = functools.partial(
            Node.store_many, keys=keys, values=values, expiration_time=expiration_time, subkeys=subkeys
        )
        return self._run(job, return_future)

    @overload
    def get(self, key: Any, *, latest: bool = ..., return_future: Literal[False] = ...) -> _Value: ...
    @overload
    def get(self, key: Any, *, latest: bool = ..., return_future: Literal[True]) -> Reply[_Value]: ...
    def get(self, key: Any, *, latest: bool = False, return_future: bool = False) -> _Value | Reply[_Value]:
        """Return the value of a key, or the dictionary of its subkeys; None if nobody has it.

        Without `latest`, the first that is found and has not expired. With it, all peers near the key are asked, and
        what they say is merged.
        """
        return self._run(functools.partial(Node.get, key=key, latest=latest), return_future)

    @overload
    def get_many(
        self, keys: Iterable[Any], *, latest: bool = ..., return_future: Literal[False] = ...
    ) -> dict[Any, _Value]: ...
    @overload
    def get_many(
        self, keys: Iterable[Any], *, latest: bool = ..., return_future: Literal[True]
    ) -> Reply[dict[Any, _Value]]: ...
    def get_many(
        self, keys: Iterable[Any], *, latest: bool = False, return_future: bool = False
    ) -> dict[Any, _Value] | Reply[dict[Any, _Value]]:
        """Return the values of many keys, which costs far less than one by one."""
        return self._run(functools.partial(Node.get_many, keys=list(keys), latest=latest), return_future)

    @overload
    def run_coroutine(self, function: Job[_Result], *, return_future: Literal[False] = ...) -> _Result: ...
    @overload
    def run_coroutine(self, function: Job[_Result], *, return_future: Literal[True]) -> Reply[_Result]: ...
    def run_coroutine(self, function: Job[_Result], *, return_future: bool = False) -> _Result | Reply[_Result]:
        """Run `await function(node)` where the node lives; with `process=True`, function and result get pickled."""
        return self._run(function, return_future)

    @overload
    def join(self, peers: Iterable[str | Address], *, return_future: Literal[False] = ...) -> int: ...
    @overload
    def join(self, peers: Iterable[str | Address], *, return_future: Literal[True]) -> Reply[int]: ...
    def join(self, peers: Iterable[str | Address], *, return_future: bool = False) -> int | Reply[int]:
        """Merge with the swarm of these peers; return how many of them answered."""
        contacts = [contact for peer in peers for contact in Address.parse(str(peer)).contacts]
        return self._run(functools.partial(Node.join, contacts=contacts), return_future)

    @overload
    def get_visible_addresses(self, *, return_future: Literal[False] = ...) -> list[Address]: ...
    @overload
    def get_visible_addresses(self, *, return_future: Literal[True]) -> Reply[list[Address]]: ...
    def get_visible_addresses(self, *, return_future: bool = False) -> list[Address] | Reply[list[Address]]:
        """Return where others reach this peer: where it listens, then where they say they see it."""
        return self._run(_visible_addresses, return_future)

    def _run(self, job: Job[_Result], return_future: bool) -> _Result | Reply[_Result]:
        if self._host is None:
            raise UsageError("this DHT has not started; call start()")
        if os.getpid() != self._pid:
            raise UsageError(f"this DHT belongs to process {self._pid}; make one in this process ({os.getpid()})")
        if return_future:
            return self._host.submit(job)
        if self._host.replies_here():
            raise UsageError(
                "waiting for the DHT in its own thread would take for ever: await the node's own coroutine, or what "
                "the call gives with return_future=True"
            )
        return self._host.run(job)


def _give_up(host: Host) -> None:
    """End a host that did not start. Why it did not is what its user hears, not how hard it is to end."""
    with contextlib.suppress(DhtStopped):
        host.stop(timeout_s=5.0)


def _abandon(host: Host, pid: int) -> None:
    if os.getpid() == pid:  # what was forked has the object, and nothing of what it stands for
        host.abandon()


async def _visible_addresses(node: Node) -> list[Address]:
    return node.greeting.visible_addresses()
