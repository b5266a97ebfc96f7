"""What a call between two peers costs: handshakes, small calls, 8 MB tensors; sealed and plain, beside bare sockets.

Both peers in one process, so that CPU time is that of both ends and nothing hides in another process; `--two` puts the
serving peer in a process of its own, which is what wall time is about. Each figure is the best of several rounds (other
programs only ever add time), with the median beside it.

    floor       the same bytes through bare sockets of the same loop: UDP there and back; blocking TCP in two processes
    handshake   two peers that never met become a session and make one call: CPU of both ends
    small       100-byte calls, 32 at a time, answered by a plain function
    large       one 8 MB echo after the other: MB/s counts the bytes of one direction

Prints a table and, as the last line, JSON.

    python benchmarks/swarm_net.py [--two] [--no-uvloop] [--rounds 5] [--profile small|large|handshake]
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import json
import multiprocessing
import os
import pstats
import socket
import statistics
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine
from multiprocessing.connection import Connection
from typing import Any

from cryptography.hazmat.primitives.ciphers.aead import AESGCM, ChaCha20Poly1305

from strobe.swarm.net import AES_GCM, PLAIN, Address, Contact, Identity, Limits, PeerNetwork
from strobe.swarm.net.cipher import Suite

SMALL, AT_ONCE, LARGE = 100, 32, 8 << 20
LIMITS = Limits(requests_per_s=1e9, burst=10**9, handshakes_per_s=1e9)
SUITES = {"sealed": AES_GCM, "plain": PLAIN}


class Table:
    """Figures as they come, for people and at the end for scripts."""

    def __init__(self) -> None:
        self.figures: dict[str, dict[str, float]] = {}

    def add(self, name: str, unit: str, values: list[float], *, best: Callable[[list[float]], float]) -> None:
        self.figures[name] = {"best": best(values), "median": statistics.median(values), "n": len(values)}
        row = self.figures[name]
        print(f"{name:44} {row['best']:12,.1f} {unit:12} (median {row['median']:,.1f}, n={len(values)})", flush=True)


async def echo_peer(suite: Suite) -> PeerNetwork:
    network = await PeerNetwork.listen(Identity.generate(), limits=LIMITS, suite=suite)
    network.serve("echo", lambda caller, payload: payload)
    return network


async def small_calls(network: PeerNetwork, contact: Contact, count: int) -> tuple[float, float]:
    """Return calls per second and CPU microseconds per call."""
    payload = bytes(SMALL)

    async def worker() -> None:
        for _ in range(count // AT_ONCE):
            await network.call(contact, "echo", payload, timeout_s=30)

    return await timed(lambda: asyncio.gather(*(worker() for _ in range(AT_ONCE))), count)


async def large_calls(network: PeerNetwork, contact: Contact, count: int) -> tuple[float, float]:
    """Return MB per second of one direction and CPU milliseconds per call."""
    payload = memoryview(bytearray(LARGE))

    async def work() -> None:
        for _ in range(count):
            await network.call(contact, "echo", payload, timeout_s=60)

    per_s, cpu_us = await timed(work, count)
    return per_s * LARGE / 1e6, cpu_us / 1e3


async def timed(work: Callable[[], Awaitable[Any]], count: int) -> tuple[float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    await work()
    return count / (time.perf_counter() - wall), (time.process_time() - cpu) / count * 1e6


async def handshakes(suite: Suite, count: int) -> float:
    """Return CPU microseconds of both ends per pair of peers that meet and make a call."""
    ann = await echo_peer(suite)
    others = [await echo_peer(suite) for _ in range(count)]
    _, cpu = await timed(
        lambda: asyncio.gather(*(ann.call(o.address.contact, "echo", b"x", timeout_s=30) for o in others)), count
    )
    for network in (ann, *others):
        await network.close()
    return cpu


async def udp_floor(count: int) -> float:
    """Return CPU microseconds for a datagram there and back, through readers of the loop."""
    loop = asyncio.get_running_loop()
    here, there = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
    done = loop.create_future()
    got = 0
    for sock in (here, there):
        sock.setblocking(False)
        sock.bind(("127.0.0.1", 0))
    target = there.getsockname()

    def drain(sock: socket.socket, handle: Callable[[bytes, Any], None]) -> None:
        for _ in range(64):
            try:
                handle(*sock.recvfrom(65536))
            except BlockingIOError:
                return

    def back(packet: bytes, _: Any) -> None:
        nonlocal got
        got += 1
        if got <= count - AT_ONCE:
            here.sendto(packet, target)
        elif got == count:
            done.set_result(None)

    def forth(packet: bytes, source: Any) -> None:
        there.sendto(packet, source)

    loop.add_reader(there, drain, there, forth)
    loop.add_reader(here, drain, here, back)
    cpu = time.process_time()
    for _ in range(AT_ONCE):
        here.sendto(bytes(SMALL), target)
    await done
    cpu = time.process_time() - cpu
    for sock in (here, there):
        loop.remove_reader(sock)
        sock.close()
    return cpu / count * 1e6


def tcp_floor(count: int) -> tuple[float, float]:
    """Return MB per second of one direction and CPU ms: 8 MB echoed by a thread, blocking sockets, nothing else."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            peer, _ = server.accept()
            buffer = bytearray(LARGE)
            with peer:
                for _ in range(count):
                    receive(peer, buffer)
                    peer.sendall(buffer)

        thread = threading.Thread(target=serve)
        thread.start()
        payload, buffer = bytearray(LARGE), bytearray(LARGE)
        with socket.create_connection(server.getsockname()) as sock:
            began, cpu = time.perf_counter(), time.process_time()
            for _ in range(count):
                sock.sendall(payload)
                receive(sock, buffer)
            took, cpu = time.perf_counter() - began, time.process_time() - cpu
        thread.join()
    return count * LARGE / 1e6 / took, cpu / count * 1e3


def receive(sock: socket.socket, buffer: bytearray) -> None:
    view, have = memoryview(buffer), 0
    while have < len(buffer):
        have += sock.recv_into(view[have:])


def ciphers(table: Table, rounds: int) -> None:
    for size, count in ((100, 5000), (1200, 5000), (65536, 300), (262144, 100)):
        for name, cipher in (("AES-256-GCM", AESGCM(bytes(32))), ("ChaCha20-Poly1305", ChaCha20Poly1305(bytes(32)))):
            payload, target = os.urandom(size), bytearray(size + 16)
            values = []
            for _ in range(rounds):
                cpu = time.process_time()
                for _ in range(count):
                    cipher.encrypt_into(bytes(12), payload, None, target)
                values.append((time.process_time() - cpu) / count * 1e6)
            table.add(f"cipher, {name}, {size} bytes", "us", values, best=min)


def serve_in_process(pipe: Connection, suite_name: str, uvloop: bool) -> None:
    async def work() -> None:
        network = await echo_peer(SUITES[suite_name])
        pipe.send(str(network.address))
        await asyncio.get_running_loop().run_in_executor(None, pipe.recv)
        await network.close()

    run(work(), uvloop)


def run(work: Coroutine[Any, Any, Any], uvloop: bool) -> Any:
    if not uvloop:
        return asyncio.run(work)
    import uvloop as library

    return library.run(work)


async def measure(table: Table, suite_name: str, address: Address | None, args: argparse.Namespace) -> None:
    suite = SUITES[suite_name]
    ann = await echo_peer(suite)
    bob = None if address else await echo_peer(suite)
    contact = address.contact if address else bob.address.contact if bob else None
    assert contact is not None
    await small_calls(ann, contact, AT_ONCE * 20)
    await large_calls(ann, contact, 2)
    small = [await small_calls(ann, contact, AT_ONCE * 300) for _ in range(args.rounds)]
    large = [await large_calls(ann, contact, 12) for _ in range(args.rounds)]
    where = "two processes" if address else "one process"
    table.add(f"small calls, {suite_name}, {where}", "calls/s", [each[0] for each in small], best=max)
    table.add(f"small calls, {suite_name}, CPU, {where}", "us/call", [each[1] for each in small], best=min)
    table.add(f"8 MB echo, {suite_name}, {where}", "MB/s", [each[0] for each in large], best=max)
    table.add(f"8 MB echo, {suite_name}, CPU, {where}", "ms/call", [each[1] for each in large], best=min)
    for network in (ann, bob):
        if network is not None:
            await network.close()


def profile(args: argparse.Namespace) -> None:
    async def work() -> None:
        suite = SUITES["sealed"]
        ann, bob = await echo_peer(suite), await echo_peer(suite)
        contact = bob.address.contact
        await ann.call(contact, "echo", b"", timeout_s=5)
        profiler = cProfile.Profile()
        with profiler:
            if args.profile == "small":
                await small_calls(ann, contact, 20_000)
            elif args.profile == "large":
                await large_calls(ann, contact, 20)
            else:
                await handshakes(suite, 300)
        pstats.Stats(profiler).sort_stats("tottime").print_stats(35)
        await ann.close()
        await bob.close()

    run(work(), args.uvloop)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--two", action="store_true", help="the serving peer in a process of its own")
    parser.add_argument("--no-uvloop", dest="uvloop", action="store_false")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--profile", choices=["small", "large", "handshake"])
    args = parser.parse_args()
    if args.profile:
        profile(args)
        return
    table = Table()
    ciphers(table, args.rounds)
    table.add("floor: UDP there and back, CPU", "us", [run(udp_floor(20_000), args.uvloop) for _ in range(3)], best=min)
    floors = [tcp_floor(10) for _ in range(args.rounds)]
    table.add("floor: 8 MB echo, blocking TCP", "MB/s", [each[0] for each in floors], best=max)
    table.add("floor: 8 MB echo, blocking TCP, CPU", "ms/call", [each[1] for each in floors], best=min)
    for name, suite in SUITES.items():
        values = [run(handshakes(suite, 200), args.uvloop) for _ in range(args.rounds)]
        table.add(f"handshake and first call, {name}, CPU", "us/pair", values, best=min)
    context = multiprocessing.get_context("spawn")
    for name in SUITES:
        run(measure(table, name, None, args), args.uvloop)
        if args.two:
            pipe, far = context.Pipe()
            process = context.Process(target=serve_in_process, args=(far, name, args.uvloop))
            process.start()
            run(measure(table, name, Address.parse(pipe.recv()), args), args.uvloop)
            pipe.send(None)
            process.join()
    print(json.dumps(table.figures))


if __name__ == "__main__":
    main()
