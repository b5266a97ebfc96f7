"""Many DHT peers in one process, on real sockets of this machine: what a record costs to store and to get.

The workload is hivemind's classic one: experts with ids such as expert.12.345.678 are declared by one peer in batches
(three records each: the id, and the coordinate under each of its two prefixes) and looked up by another. Times are
sums of the calls, creation is apart. CPU is that of the whole process, which is all peers at once, so it is the cost
of both ends of every message; in brackets the lower quartile of the batches, which a busy machine disturbs less.
"Holders" compares who holds a sample of the keys with who is nearest to them in truth.

    python benchmarks/swarm_dht.py [--num-peers 16 64 256 1024] [--num-experts 1024] [--batch 64] [--plain]

Prints a table and, as the last line, JSON.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import resource
import time
from dataclasses import dataclass, field
from typing import Any

from strobe.swarm.dht.host import new_loop
from strobe.swarm.dht.id import number, place_of
from strobe.swarm.dht.node import Node
from strobe.swarm.dht.options import Options
from strobe.swarm.net.cipher import AES_GCM, PLAIN
from strobe.swarm.net.identity import Identity
from strobe.swarm.net.limits import Limits
from strobe.swarm.net.peer_network import PeerNetwork

_SAMPLE = 500


@dataclass
class Lap:
    """Wall, CPU and messages of a stretch of the run."""

    wall_s: float = 0.0
    cpu_s: float = 0.0
    messages: int = 0
    each_cpu_s: list[float] = field(default_factory=list)

    def quiet_cpu_s(self) -> float:
        """Return the CPU time of a batch at the lower quartile: what it costs when nobody else is busy."""
        return sorted(self.each_cpu_s)[len(self.each_cpu_s) // 4]


class Stopwatch:
    """Measures laps over all nodes."""

    def __init__(self, nodes: list[Node], lap: Lap) -> None:
        self._nodes, self.lap = nodes, lap

    def __enter__(self) -> None:
        self._start = time.perf_counter(), time.process_time(), self._count()

    def __exit__(self, *error: object) -> None:
        wall, cpu, count = self._start
        self.lap.wall_s += time.perf_counter() - wall
        self.lap.each_cpu_s.append(time.process_time() - cpu)
        self.lap.cpu_s += self.lap.each_cpu_s[-1]
        self.lap.messages += self._count() - count

    def _count(self) -> int:
        return sum(node.exchange.num_requests for node in self._nodes)


def records_of(uid: str, peer: str) -> list[tuple[str, Any, Any]]:
    """Return (key, subkey, value) of what declares one expert."""
    prefix, a, b, c = uid.split(".")
    return [(uid, None, peer), (f"{prefix}.{a}.", int(b), (uid, peer)), (f"{prefix}.{a}.{b}.", int(c), (uid, peer))]


async def measure(num_peers: int, args: argparse.Namespace) -> dict[str, Any]:
    """Return the figures of one swarm."""
    rng = random.Random(args.seed)
    options = Options(
        join_width=args.join_width,
        window=args.window,
        timeout_s=args.wait_timeout,
        overdue_s=args.wait_timeout / 2,
        refresh_s=args.refresh,
    )
    suite = PLAIN if args.plain else AES_GCM
    nodes: list[Node] = []
    laps = {name: Lap() for name in ("create", "store", "get")}

    async def add() -> None:
        network = await PeerNetwork.listen(
            Identity.generate(), suite=suite, limits=Limits(requests_per_s=1e6, burst=10**6)
        )
        known = rng.sample(nodes, min(len(nodes), args.initial_peers))
        nodes.append(await Node.create(network, [node.network.address.contact for node in known], options))

    with Stopwatch(nodes, laps["create"]):
        await add()
        while len(nodes) < num_peers:
            await asyncio.gather(*(add() for _ in range(min(args.at_once, len(nodes), num_peers - len(nodes)))))
    uids = list(
        {f"expert.{rng.randrange(1000)}.{rng.randrange(1000)}.{rng.randrange(1000)}" for _ in range(args.num_experts)}
    )
    writer, reader = nodes[-2], nodes[-1]
    stored: dict[Any, bool] = {}
    num_records = 0
    for start in range(0, len(uids), args.batch):
        # Of two experts that differ only in the last coordinate, one stands for the coordinate before.
        declared = (record for uid in uids[start : start + args.batch] for record in records_of(uid, "peer"))
        records = {(key, subkey): value for key, subkey, value in declared}
        keys, subkeys = zip(*records, strict=True)
        num_records += len(records)
        with Stopwatch(nodes, laps["store"]):
            stored.update(await writer.store_many(keys, list(records.values()), time.time() + args.expiration, subkeys))
    found = 0
    for start in range(0, len(uids), args.batch):
        with Stopwatch(nodes, laps["get"]):
            got = await reader.get_many(uids[start : start + args.batch])
        found += sum(value is not None and value.value == "peer" for value in got.values())
    held, replicas = check_holders(nodes, rng.sample(uids, min(len(uids), _SAMPLE)), options.num_replicas)
    for node in nodes:
        await node.close()
    return {
        "peers": num_peers,
        "experts": len(uids),
        "create_s": laps["create"].wall_s,
        "create_cpu_s": laps["create"].cpu_s,
        "create_messages": laps["create"].messages / num_peers,
        "store_success": sum(stored.values()) / len(stored),
        "store_s": laps["store"].wall_s,
        "store_cpu_us": laps["store"].cpu_s / num_records * 1e6,
        "store_quiet_cpu_us": laps["store"].quiet_cpu_s() / min(len(uids), args.batch) / 3 * 1e6,
        "store_messages": laps["store"].messages / num_records,
        "get_success": found / len(uids),
        "get_s": laps["get"].wall_s,
        "get_cpu_us": laps["get"].cpu_s / len(uids) * 1e6,
        "get_quiet_cpu_us": laps["get"].quiet_cpu_s() / min(len(uids), args.batch) * 1e6,
        "get_messages": laps["get"].messages / len(uids),
        "true_holders": held,
        "replicas": replicas,
        "table": sum(len(node.peers.table) for node in nodes) / num_peers,
        "rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def check_holders(nodes: list[Node], keys: list[str], num_replicas: int) -> tuple[float, float]:
    """Return the share of keys held by all that are nearest in truth, and how many hold a key on average."""
    by_id = {number(node.network.address.id): node for node in nodes}
    right = holders = 0
    for key in keys:
        place = place_of(key)
        nearest = sorted(by_id, key=number(place).__xor__)[:num_replicas]
        right += all(place in by_id[peer].storage for peer in nearest)
        holders += sum(place in node.storage for node in nodes)
    return right / len(keys), holders / len(keys)


def _table(found: dict[str, Any]) -> str:
    lines = [
        f"{found['peers']:5} peers  create {found['create_s']:6.2f} s ({found['create_cpu_s']:.2f} s CPU, "
        f"{found['create_messages']:.1f} messages each)"
    ]
    for name, unit in (("store", "record"), ("get", "key")):
        lines.append(
            f"   {name:5} {found[f'{name}_success']:8.2%}  {found[f'{name}_s']:7.2f} s  {found[f'{name}_cpu_us']:4.0f} "
            f"({found[f'{name}_quiet_cpu_us']:.0f}) µs CPU, {found[f'{name}_messages']:.2f} messages per {unit}"
        )
    lines.append(
        f"   held by the true nearest {found['true_holders']:.1%}, {found['replicas']:.2f} replicas; "
        f"table {found['table']:.0f}; {found['rss_mb']:.0f} MB in all"
    )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--num-peers", type=int, nargs="+", default=[16, 64, 256, 1024])
    parser.add_argument("--num-experts", type=int, default=1024)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--expiration", type=float, default=300.0)
    parser.add_argument("--initial-peers", type=int, default=2)
    parser.add_argument("--at-once", type=int, default=8, help="peers that join at the same time")
    parser.add_argument("--join-width", type=int, default=Options().join_width)
    parser.add_argument("--window", type=int, default=Options().window)
    parser.add_argument("--wait-timeout", type=float, default=5.0)
    parser.add_argument("--refresh", type=float, default=Options().refresh_s, help="seconds; 0 is never")
    parser.add_argument("--seed", type=int, default=30)
    parser.add_argument("--plain", action="store_true", help="without encryption")
    args = parser.parse_args()
    loop = new_loop()
    results = []
    for num_peers in args.num_peers:
        found = loop.run_until_complete(measure(num_peers, args))
        results.append(found)
        print(_table(found), flush=True)
    loop.close()
    print(json.dumps(results))


if __name__ == "__main__":
    main()
