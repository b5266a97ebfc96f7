"""What a relay costs: the same calls to the same peer, straight and through a relay, in turns.

Three processes on one machine: caller, relay and server. The server listens at one port and is sheltered behind
another, both in one process; rounds of the two ways alternate, so that both meet the same machine. The relay's limits
on bytes are lifted. On one machine the relay takes processor time from the two ends, which a relay elsewhere does not;
its own CPU time per call tells what it could carry. Each figure is the best of the rounds (other programs only ever add
time), with the median beside it.

    small   100-byte calls, 32 at a time
    single  100-byte calls, one after the other
    large   one 8 MB echo after the other: MB/s counts the bytes of one direction

Prints a table with ratios (through the relay / straight) and, as the last line, JSON.

    python benchmarks/swarm_relay.py [--rounds 5] [--no-uvloop]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import statistics
import time
from collections.abc import Callable, Coroutine
from multiprocessing.connection import Connection
from typing import Any

from strobe.swarm.net import Address, Contact, Identity, Limits, PeerNetwork, RelayLimits

LARGE = 8 << 20
LIMITS = Limits(requests_per_s=1e9, burst=10**9)
UNLIMITED = RelayLimits(circuit_bytes_per_s=1e12, bytes_per_s=1e12, circuit_bytes=1 << 50)


def run(work: Coroutine[Any, Any, Any], uvloop: bool) -> Any:
    if not uvloop:
        return asyncio.run(work)
    import uvloop as library

    return library.run(work)


async def until_told(pipe: Connection, answer: Callable[[], object]) -> None:
    """Answer every question of the parent until it says no more."""
    loop = asyncio.get_running_loop()
    while await loop.run_in_executor(None, pipe.recv):
        pipe.send(answer())


def relay_process(pipe: Connection, uvloop: bool) -> None:
    async def work() -> None:
        network = await PeerNetwork.listen(Identity.generate(), relay=UNLIMITED, limits=LIMITS)
        pipe.send(str(network.address))
        await until_told(pipe, time.process_time)
        await network.close()

    run(work(), uvloop)


def server_process(pipe: Connection, relay: str, uvloop: bool) -> None:
    async def work() -> None:
        straight = await PeerNetwork.listen(Identity.generate(), limits=LIMITS)
        sheltered = await PeerNetwork.listen(
            Identity.generate(), limits=LIMITS, relays=[Address.parse(relay)], reachable=False
        )
        for network in (straight, sheltered):
            network.serve("echo", lambda caller, payload: payload)
        pipe.send((str(straight.address), str(sheltered.address)))
        await until_told(pipe, lambda: None)
        for network in (straight, sheltered):
            await network.close()

    run(work(), uvloop)


async def calls_per_s(network: PeerNetwork, contact: Contact, size: int, at_once: int, count: int) -> float:
    payload = memoryview(bytearray(size))

    async def worker() -> None:
        for _ in range(count // at_once):
            await network.call(contact, "echo", payload, timeout_s=60)

    began = time.perf_counter()
    await asyncio.gather(*(worker() for _ in range(at_once)))
    return count / (time.perf_counter() - began)


async def measure(relay: Connection, ways: dict[str, Contact], rounds: int) -> dict[str, dict[str, list[float]]]:
    network = await PeerNetwork.listen(Identity.generate(), limits=LIMITS)
    figures: dict[str, dict[str, list[float]]] = {}

    def cpu_of_relay() -> float:
        relay.send(True)
        return float(relay.recv())

    for name, unit, size, at_once, count in (
        ("small", 1.0, 100, 32, 3200),
        ("single", 1.0, 100, 1, 500),
        ("large", LARGE / 1e6, LARGE, 1, 8),
    ):
        figures[name] = {way: [] for way in ways}
        figures[f"relay's CPU, {name}, us per call"] = {"through the relay": []}
        for turn in range(rounds + 1):
            for way, contact in ways.items():
                before = cpu_of_relay()
                per_s = await calls_per_s(network, contact, size, at_once, count)
                if turn:  # the first of each is a warm-up
                    figures[name][way].append(per_s * unit)
                    if way == "through the relay":
                        spent = (cpu_of_relay() - before) / count * 1e6
                        figures[f"relay's CPU, {name}, us per call"][way].append(spent)
    await network.close()
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--no-uvloop", dest="uvloop", action="store_false")
    args = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    (relay, relay_far), (server, server_far) = context.Pipe(), context.Pipe()
    processes = [context.Process(target=relay_process, args=(relay_far, args.uvloop))]
    processes[0].start()
    address = relay.recv()
    processes.append(context.Process(target=server_process, args=(server_far, address, args.uvloop)))
    processes[1].start()
    contacts = [Address.parse(text).contact for text in server.recv()]
    ways = dict(zip(("straight", "through the relay"), contacts, strict=True))
    figures = run(measure(relay, ways, args.rounds), args.uvloop)
    for pipe, process in zip((relay, server), processes, strict=True):
        pipe.send(False)
        process.join()
    for name, rows in figures.items():
        best = min if "CPU" in name else max
        line = ", ".join(
            f"{way} {best(values):,.0f} (median {statistics.median(values):,.0f}, n={len(values)})"
            for way, values in rows.items()
        )
        ratio = f", ratio {best(rows['through the relay']) / best(rows['straight']):.2f}" if len(rows) == 2 else ""
        print(f"{name:36} {line}{ratio}", flush=True)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
