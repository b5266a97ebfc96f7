"""What a server of experts gives: samples and requests per second over real sockets, beside the same work done locally.

The server is one process, every client another, as with hivemind's benchmark_throughput: the clock starts when the
server is ready, so it includes that clients connect and ask for descriptions, and ends with the last answer. `local`
is the same backend called in a loop in this process, with the same threads: the rest is what wire and waiting cost.

    nop           16 experts that do nothing, 4 clients × 16 batches × 2,048 rows of 1,024, forward
    batch1        the same, 8 clients × 256 batches of one row
    ffn           4 feed-forward experts, 4 clients × 16 × 512, forward
    minimalistic  1 feed-forward expert, 1 client × 8 × 2,048, forward and backward
    startup       16 feed-forward experts, from nothing to declared

Prints a table and, as the last line, JSON.

    python benchmarks/swarm_experts.py [scenario …] [--plain] [--rounds 3] [--threads 2]
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import statistics
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier
from typing import Any

import torch

from strobe.swarm.client import CallOptions, RemoteExpert
from strobe.swarm.client.link import Link
from strobe.swarm.dht import DHT
from strobe.swarm.experts import ExpertBackend, ExpertPlace, Server, ServerOptions, Training, parse_uid
from strobe.swarm.experts.registry import expert_kind
from strobe.swarm.net import AES_GCM, PLAIN, Address, Limits

HIDDEN = 1024
#: a thousand requests a second of one client are no flood here
LIMITS = Limits(requests_per_s=1e6, burst=10**6)


@dataclass(frozen=True)
class Scenario:
    expert_class: str
    num_experts: int
    num_clients: int
    num_batches: int
    batch_size: int
    is_backward: bool = False


SCENARIOS = {
    "nop": Scenario("nop", 16, 4, 16, 2048),
    "batch1": Scenario("nop", 16, 8, 256, 1),
    "ffn": Scenario("ffn", 4, 4, 16, 512),
    "minimalistic": Scenario("ffn", 1, 1, 8, 2048, is_backward=True),
}


def uids(scenario: Scenario) -> list[str]:
    return [f"expert.{number}" for number in range(scenario.num_experts)]


def serve(pipe: Connection, scenario: Scenario, args: argparse.Namespace) -> None:
    torch.set_num_threads(args.threads)
    options = ServerOptions(num_parallel=args.parallel, num_threads=args.workers)
    with DHT(limits=LIMITS, suite=PLAIN if args.plain else AES_GCM) as dht:
        started = time.perf_counter()
        server = Server.create(
            dht,
            expert_class=scenario.expert_class,
            hidden_dim=HIDDEN,
            uids=uids(scenario),
            max_batch_size=4 * scenario.batch_size,
            training=Training(),
            options=options,
        )
        made = time.perf_counter()
        with server:
            pipe.send((str(dht.address), made - started, time.perf_counter() - made))
            before_s = time.process_time()
            pipe.recv()
            pipe.send({**server.status(), "cpu_s": time.process_time() - before_s})


def use(
    address: str, scenario: Scenario, args: argparse.Namespace, start: Barrier, cpu: Connection, number: int
) -> None:
    torch.set_num_threads(1)
    rng = random.Random(number)
    batch = torch.randn(scenario.batch_size, HIDDEN, requires_grad=scenario.is_backward)
    grad = torch.randn(scenario.batch_size, HIDDEN)
    start.wait()
    before_s = time.process_time()
    place = Address.parse(address)
    with DHT([place], client_mode=True, limits=LIMITS, suite=PLAIN if args.plain else AES_GCM) as dht:
        link = Link(dht)
        options = CallOptions(timeout_s=120.0, compression=args.compression)
        experts = [RemoteExpert(ExpertPlace(parse_uid(uid), place), link, options) for uid in uids(scenario)]
        for _ in range(scenario.num_batches):
            output = rng.choice(experts)(batch)
            assert output.shape == batch.shape
            if scenario.is_backward:
                output.backward(grad)
    cpu.send(time.process_time() - before_s)


def measure(scenario: Scenario, args: argparse.Namespace) -> dict[str, float]:
    """Return samples per second and what the server says of it."""
    context = multiprocessing.get_context("spawn")
    pipe, far = context.Pipe()
    server = context.Process(target=serve, args=(far, scenario, args))
    server.start()
    address, experts_s, networking_s = pipe.recv()
    start = context.Barrier(scenario.num_clients + 1)
    cpu_pipes = [context.Pipe() for _ in range(scenario.num_clients)]
    clients = [
        context.Process(target=use, args=(address, scenario, args, start, cpu, number))
        for number, (_, cpu) in enumerate(cpu_pipes)
    ]
    for client in clients:
        client.start()
    start.wait()
    began = time.perf_counter()
    for client in clients:
        client.join()
        assert client.exitcode == 0
    elapsed_s = time.perf_counter() - began
    pipe.send(None)
    status = pipe.recv()
    server.join()
    num_requests = scenario.num_clients * scenario.num_batches
    clients_cpu_s = sum(near.recv() for near, _ in cpu_pipes)
    return {
        "samples_per_s": num_requests * scenario.batch_size / elapsed_s,
        "requests_per_s": num_requests / elapsed_s,
        "elapsed_s": elapsed_s,
        "startup_s": experts_s + networking_s,
        "samples_per_batch": status["samples_per_batch"],
        "latency_p50_ms": status["latency_p50_ms"],
        # What a busy machine does not blur as much as the time on the wall.
        "server_cpu_ms": status["cpu_s"] / num_requests * 1e3,
        "client_cpu_ms": clients_cpu_s / num_requests * 1e3,
    }


def local(scenario: Scenario, threads: int) -> float:
    """Return samples per second of the same passes in this process."""
    torch.set_num_threads(threads)
    kind = expert_kind(scenario.expert_class)
    backends = [ExpertBackend.build(parse_uid(uid), kind, HIDDEN) for uid in uids(scenario)]
    batch, grad = torch.randn(scenario.batch_size, HIDDEN), torch.randn(scenario.batch_size, HIDDEN)
    rng = random.Random(0)
    count = scenario.num_clients * scenario.num_batches
    for backend in backends:
        backend.forward([batch])
    started = time.perf_counter()
    for _ in range(count):
        backend = rng.choice(backends)
        backend.forward([batch])
        if scenario.is_backward:
            backend.backward([batch], [grad])
    return count * scenario.batch_size / (time.perf_counter() - started)


def startup(args: argparse.Namespace) -> dict[str, float]:
    """Return how long a server of 16 experts takes, in a fresh process whose imports are done."""
    scenario = Scenario("ffn", 16, 0, 0, 2048)
    context = multiprocessing.get_context("spawn")
    pipe, far = context.Pipe()
    server = context.Process(target=serve, args=(far, scenario, args))
    server.start()
    _, experts_s, networking_s = pipe.recv()
    pipe.send(None)
    pipe.recv()
    server.join()
    return {"experts_s": experts_s, "networking_s": networking_s, "startup_s": experts_s + networking_s}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenario", nargs="*", default=[*SCENARIOS, "startup"])
    parser.add_argument("--plain", action="store_true", help="without encryption")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="torch threads of the server")
    parser.add_argument("--workers", type=int, help="threads that get batches ready")
    parser.add_argument("--parallel", type=int, default=ServerOptions().num_parallel)
    parser.add_argument("--compression", default="none")
    parser.add_argument("--no-local", action="store_true")
    args = parser.parse_args()
    figures: dict[str, Any] = {}
    for name in args.scenario:
        rounds: list[dict[str, float]] = []
        for _ in range(args.rounds):
            if name == "startup":
                rounds.append(startup(args))
                continue
            scenario = SCENARIOS[name]
            row = measure(scenario, args)
            if scenario.expert_class != "nop" and not args.no_local:
                row["local_samples_per_s"] = local(scenario, args.threads)
                row["of_local"] = row["samples_per_s"] / row["local_samples_per_s"]
            rounds.append(row)
        # The median of each figure; ratios were taken within a round, where the machine was the same.
        figures[name] = {key: statistics.median(row[key] for row in rounds) for key in rounds[0]}
        print(f"{name:14}", "  ".join(f"{key} {value:,.3g}" for key, value in figures[name].items()), flush=True)
    print(json.dumps({"plain": args.plain, "threads": args.threads, "rounds": args.rounds, "figures": figures}))


if __name__ == "__main__":
    main()
