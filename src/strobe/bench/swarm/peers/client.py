"""Clients of experts, in a process of their own: they come up, wait for a word, and load the server with requests.

Each is a peer of its own in a thread of its own, and asks one thing at a time.
"""

from __future__ import annotations

import queue
import random
import threading
from multiprocessing.connection import Connection
from typing import Any

import torch

from strobe.bench.swarm.programs.inputs import make_inputs
from strobe.swarm.client import CallOptions, RemoteExpert
from strobe.swarm.client.link import Link
from strobe.swarm.dht import DHT
from strobe.swarm.experts import ExpertPlace, parse_uid
from strobe.swarm.net.address import Address
from strobe.swarm.net.cipher import AES_GCM, PLAIN

_ANSWER_S = 600.0


def serve(pipe: Connection, job: dict[str, Any], address: str, numbers: list[int]) -> None:
    """The life of a process with clients: None says that it is up, and that all went well; text says what did not.

    It ends when the pipe is closed: leaving the swarm, and the end of a process, are nobody's requests.
    """
    torch.set_num_threads(1)
    outcomes: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    ending = threading.Event()
    threads = [threading.Thread(target=_run, args=(job, address, number, outcomes, ending)) for number in numbers]
    pipe.send(None)
    try:
        pipe.recv()
        for thread in threads:
            thread.start()
        errors = [error for _ in threads if (error := outcomes.get()) is not None]
        pipe.send(errors[0] if errors else None)
        pipe.recv()
    except EOFError:
        ending.set()


def _run(
    job: dict[str, Any], address: str, number: int, outcomes: queue.SimpleQueue[str | None], ending: threading.Event
) -> None:
    try:
        with DHT([address], client_mode=True, suite=PLAIN if job["plain"] else AES_GCM) as dht:
            _ask(job, dht, Address.parse(address), random.Random(number))
            outcomes.put(None)
            ending.wait()
    except Exception as exc:  # noqa: BLE001  # told to the one who waits, who raises it
        outcomes.put(f"{type(exc).__name__}: {exc}")


def _ask(job: dict[str, Any], dht: DHT, server: Address, rng: random.Random) -> None:
    link, options = Link(dht), CallOptions(timeout_s=_ANSWER_S)
    experts = [
        RemoteExpert(ExpertPlace(parse_uid(f"expert.{index}"), server), link, options)
        for index in range(job["num_experts"])
    ]
    inputs = make_inputs(job)
    for _ in range(job["num_batches_per_client"]):
        output = rng.choice(experts)(*inputs)
        if job["backprop"]:
            output.sum().backward()
