"""The DHT object on real sockets: threads, coroutines, a process of its own, and its end."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from strobe.errors import CommError, UsageError
from strobe.swarm.dht import DHT, BootstrapFailed, DhtStopped, Node, Options, get_dht_time
from strobe.swarm.net.address import Address
from strobe.swarm.net.identity import Identity
from strobe.swarm.net.network import Contact

_QUICK = Options(timeout_s=0.5)


@pytest.fixture
def swarm() -> Iterator[list[DHT]]:
    first = DHT()
    others = [DHT([first.address]) for _ in range(4)]
    yield [first, *others]
    for dht in [first, *others]:
        dht.shutdown()


def test_store_and_get_from_ordinary_code(swarm: list[DHT]) -> None:
    now = get_dht_time()
    assert swarm[1].store("key", ("a", 1.5), now + 60)
    assert swarm[4].get("key") == (("a", 1.5), now + 60)
    assert not swarm[2].store("key", "older", now + 30)
    assert swarm[0].store_many(["x", "y"], [1, 2], now + 60, ["s", "s"]) == {("x", "s"): True, ("y", "s"): True}
    got = swarm[3].get_many(["x", "y", "z"], latest=True)
    assert got["x"] == ({"s": (1, now + 60)}, now + 60)
    assert got["z"] is None


def test_the_same_object_in_coroutines_and_threads(swarm: list[DHT]) -> None:
    async def main() -> None:
        stored = [
            swarm[number % 5].store(number, number, get_dht_time() + 60, return_future=True) for number in range(20)
        ]
        assert all([await reply for reply in stored])
        got = await asyncio.gather(*(swarm[2].get(number, latest=True, return_future=True) for number in range(20)))
        assert [value and value.value for value in got] == list(range(20))

    asyncio.run(main())
    found: list[object] = []
    threads = [threading.Thread(target=lambda n=n: found.append(swarm[n % 5].get(n))) for n in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 10
    assert None not in found


def test_async_with_joins_and_leaves_and_the_loop_goes_on() -> None:
    async def main() -> None:
        async with DHT(start=False) as first, DHT([first.address], start=False) as second:
            assert await second.store("k", 1, get_dht_time() + 60, return_future=True)
            assert await first.get("k", return_future=True) is not None
            assert await second.join([first.address], return_future=True) == 1
            assert (await first.get_visible_addresses(return_future=True))[0] == first.address
        with pytest.raises(DhtStopped):
            second.get("k")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as mute:
            mute.bind(("127.0.0.1", 0))
            absent = Address(Identity.generate().peer_id, ("127.0.0.1",), mute.getsockname()[1])
            waiting = DHT([absent], options=Options(timeout_s=60.0), start=False)
            joining = asyncio.ensure_future(waiting.__aenter__())
            await asyncio.sleep(0.1)
            joining.cancel()
            with pytest.raises(asyncio.CancelledError):
                await joining
            assert not any(thread.name == "strobe-dht" for thread in threading.enumerate())
        with pytest.raises(BootstrapFailed):
            async with DHT([absent], options=_QUICK, start=False):
                pass

    asyncio.run(main())


async def _num_known(node: Node) -> int:
    return len(node.peers.table)


async def _known(node: Node) -> list[Contact]:
    return node.peers.table.all()


async def _fail(node: Node) -> None:
    raise ZeroDivisionError("on purpose")


async def _wait_long(node: Node) -> None:
    await asyncio.sleep(1000)


def test_run_coroutine_sees_the_node_and_its_errors_come_back(swarm: list[DHT]) -> None:
    assert swarm[0].run_coroutine(_num_known) == 4
    with pytest.raises(ZeroDivisionError, match="on purpose"):
        swarm[0].run_coroutine(_fail)
    reply = swarm[0].run_coroutine(_wait_long, return_future=True)
    assert reply.cancel()
    assert swarm[0].run_coroutine(_num_known) == 4


def test_waiting_where_the_answer_comes_from_is_told() -> None:
    with DHT() as dht:

        async def wait(node: Node) -> None:
            dht.get("k")

        async def do_not_wait(node: Node) -> object:
            return await dht.get("k", return_future=True)

        reply = dht.run_coroutine(wait, return_future=True)
        with pytest.raises(UsageError, match="return_future=True"):
            reply.result(5)
        assert dht.run_coroutine(do_not_wait) is None


@pytest.mark.slow
def test_a_process_of_its_own_behaves_like_a_thread(tmp_path: Path) -> None:
    with DHT() as first, DHT([first.address], process=True, identity_path=tmp_path / "key") as other:
        now = get_dht_time()
        assert other.store("k", (1, 2), now + 60)
        assert first.get("k") == ((1, 2), now + 60)
        assert other.get("k") == ((1, 2), now + 60)
        assert other.run_coroutine(_num_known) == 1
        with pytest.raises(ZeroDivisionError, match="on purpose"):
            other.run_coroutine(_fail)
        assert other.peer_id == Identity.load(tmp_path / "key").peer_id
        reply = other.run_coroutine(_wait_long, return_future=True)
        other.shutdown()
        with pytest.raises(DhtStopped):
            reply.result(5)
        with pytest.raises(DhtStopped):
            other.get("k")
    with pytest.raises(BootstrapFailed):
        DHT([first.address], process=True, options=_QUICK)


def test_shutdown_frees_the_port_ends_the_thread_and_fails_what_is_under_way() -> None:
    dht = DHT()
    port = dht.address.port
    reply = dht.run_coroutine(_wait_long, return_future=True)
    dht.shutdown()
    dht.shutdown()
    with pytest.raises(DhtStopped):
        reply.result(5)
    with pytest.raises(DhtStopped, match="make a new one"):
        dht.get("k")
    assert not any(thread.name == "strobe-dht" for thread in threading.enumerate())
    with DHT(port=port) as again:
        assert again.address.port == port


def test_an_identity_on_disk_gives_the_same_peer_again(tmp_path: Path) -> None:
    with DHT(identity_path=tmp_path / "key") as dht:
        peer_id = dht.peer_id
    with DHT(identity_path=tmp_path / "key") as dht:
        assert dht.peer_id == peer_id


def test_visible_addresses_are_what_others_join_by(swarm: list[DHT]) -> None:
    addresses = swarm[0].get_visible_addresses()
    assert addresses[0] == swarm[0].address
    with DHT([str(addresses[0])], client_mode=True) as client:
        assert client.client_mode
        assert client.store("from a client", 1, get_dht_time() + 60)
    assert swarm[3].get("from a client") is not None


def test_mistakes_are_told() -> None:
    for name in ("initial_peers", "hosts", "announce", "relays"):
        one: Any = {name: "127.0.0.1"}
        with pytest.raises(UsageError, match=rf"{name} is a list, also of one: {name}=\['127\.0\.0\.1'\]"):
            DHT(**one)
    with pytest.raises(UsageError, match="initial_peers is a list"):
        DHT(Address(Identity.generate().peer_id, ("127.0.0.1",), 9))  # type: ignore[arg-type]  # the mistake
    with pytest.raises(UsageError, match="port 99999 is not between 0"):
        DHT(port=99999)
    for option in ("num_replicas", "window", "timeout_s"):
        nothing: Any = {option: 0}
        with pytest.raises(UsageError, match=f"{option} is 0; it must be more than 0"):
            Options(**nothing)
    bad_times: list[Any] = [None, "soon", [None]]
    with DHT() as dht:
        for bad in bad_times:
            with pytest.raises(UsageError, match="is no expiration"):
                dht.store("k", 1, bad)
    dht = DHT(start=False)
    with pytest.raises(UsageError, match="start"):
        dht.get("k")
    absent = Address(Identity.generate().peer_id, ("127.0.0.1",), 9)
    started = time.monotonic()
    with pytest.raises(BootstrapFailed, match=r"127\.0\.0\.1:9"):
        DHT([absent], options=_QUICK)
    assert time.monotonic() - started < 10


def test_nobody_joins_through_a_peer_that_only_asks() -> None:
    with DHT(client_mode=True) as asker, pytest.raises(BootstrapFailed, match="there, but it only asks"):
        DHT([asker.address])


def test_a_swarm_of_ipv6_is_joined_by_default() -> None:
    try:
        first = DHT(hosts=["::1"])
    except CommError as exc:
        pytest.skip(f"no IPv6 here: {exc}")
    with first, DHT([first.address]) as second:
        assert second.store("k", 6, get_dht_time() + 60)
        assert second.address.hosts == ("::1",)


def test_a_swarm_is_joined_by_name_and_knows_its_peers_by_number() -> None:
    with DHT() as first, DHT([first.address]) as second, DHT([second.address]) as third:
        named = replace(first.address, hosts=("localhost",))
        with DHT([named]) as joiner, DHT([joiner.address]) as after:
            assert joiner.store("by name", 1, get_dht_time() + 60)
            assert {contact.host for contact in joiner.run_coroutine(_known)} == {"127.0.0.1"}
            for dht in (second, third, after):
                assert dht.get("by name", latest=True) is not None
            assert joiner.join([named]) == 1
    with pytest.raises(BootstrapFailed, match=r"no address is known of no-such-host\.invalid"):
        DHT([replace(first.address, hosts=("no-such-host.invalid",))], options=_QUICK)


def test_two_swarms_of_real_peers_merge() -> None:
    with DHT() as one, DHT() as other:
        assert one.store("k", 1, get_dht_time() + 60)
        assert other.get("k", latest=True) is None
        assert other.join([one.address]) == 1
        assert other.get("k", latest=True) is not None
