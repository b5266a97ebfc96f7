"""`strobe bench swarm dht`: its parameters, hivemind's lines, and what is recorded."""

from __future__ import annotations

import math
from collections.abc import Callable

import msgspec

from strobe.bench.swarm.bar import Bar
from strobe.bench.swarm.benchmark import Metric
from strobe.bench.swarm.event import Began, Progress
from strobe.bench.swarm.program import Listener, Outcome, Phase
from strobe.errors import UsageError


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """hivemind's parameters with its defaults, then what it lacks."""

    num_peers: int = 32
    initial_peers: int = 1
    num_experts: int = 256
    expert_batch_size: int = 32
    expiration: float = 300.0
    wait_after_request: float = 0.0
    wait_before_read: float = 0.0
    wait_timeout: float = 5.0
    random_seed: int = 30
    increase_file_limit: bool = False

    #: share of the peers that are killed on the way
    failure_rate: float = 0.0
    #: milliseconds that a datagram takes, and the share of them that never arrives
    latency: float = 0.0
    loss: float = 0.0
    #: processes that share the peers; 0: all live in one
    processes: int = 0
    plain: bool = False

    def check(self, *, has_others: bool) -> None:
        """Raise UsageError for what cannot be measured."""
        for name in ("num_peers", "initial_peers", "num_experts", "expert_batch_size"):
            if getattr(self, name) < 1:
                raise UsageError(f"--{name} must be at least 1, got {getattr(self, name)}")
        for name in ("failure_rate", "loss"):
            if not 0.0 <= getattr(self, name) < 1.0:
                raise UsageError(f"--{name} is a share from 0 up to less than 1, got {getattr(self, name):g}")
        if self.num_peers < 2:
            raise UsageError("--num_peers 1: one peer declares and another one finds, so there must be two")
        if self.processes and not 2 <= self.processes <= self.num_peers:
            raise UsageError(
                f"--processes {self.processes}: from 2 to --num_peers {self.num_peers}, or 0 for one in all"
            )
        if not 0 <= self.latency < math.inf:
            raise UsageError(f"--latency is a time in ms from 0, got {self.latency:g}")
        if has_others and (self.loss or self.latency):
            raise UsageError("--loss and --latency are of our own sockets: hivemind's daemon cannot be given them")

    @property
    def variant(self) -> dict[str, str]:
        """What sets its records apart from those of other sizes and conditions."""
        found = {
            "peers": str(self.num_peers),
            "experts": str(self.num_experts),
            "batch": str(self.expert_batch_size),
            "wire": "plain" if self.plain else "encrypted",
        }
        extra = {name: f"{getattr(self, name):g}" for name in ("failure_rate", "loss", "latency", "processes")}
        return found | {name: value for name, value in extra.items() if value != "0"}

    @property
    def num_files(self) -> int:
        """How many files and sockets a process with all of the peers opens, roughly."""
        peers_per_process = self.num_peers if not self.processes else -(-self.num_peers // self.processes)
        return 64 + 2 * peers_per_process + 4 * self.processes


class Lines(Listener):
    """Prints what hivemind's benchmark prints: results with `out`, and bars if there are to be any."""

    def __init__(self, job: Job, out: Callable[[str], None], make_bar: Callable[[int], Bar] | None = Bar) -> None:
        self._job = job
        self._out = out
        self._make_bar = make_bar
        self._bar: Bar | None = None

    def began(self, event: Began) -> None:
        if event.phase == "create":
            self._out("Creating peers...")
        elif event.phase == "store":
            self._out(f"Sampled {event.figures['uids']:.0f} unique ids (after deduplication)")
            self._out(f"Storing peers to dht in batches of {self._job.expert_batch_size}...")
        self._bar = self._make_bar(event.total) if event.total and self._make_bar is not None else None

    def progress(self, event: Progress) -> None:
        if self._bar is not None:
            self._bar.show(event.done)

    def ended(self, phase: Phase) -> None:
        for line in lines_of(phase):
            self._out(line)


def lines_of(phase: Phase) -> list[str]:
    """Return the result lines of a phase."""
    figures, seconds = phase.figures, phase.seconds
    if phase.name == "create":
        return [f"Create time: {seconds:.5g}"]
    if phase.name == "survive":
        return [f"Node survival rate: {figures['alive'] / figures['peers']:.3%}"]
    good, count = figures["good"], figures["count"]
    rate, mean = good / count * 100, seconds / count
    if phase.name == "store":
        return [
            f"Store success rate: {rate:.1f}% ({good:.0f} / {count:.0f})",
            f"Mean store time: {mean:.4g}, Total: {seconds:.5g}",
        ]
    return [
        f"Get success rate: {rate:.1f} ({good:.0f} / {count:.0f})",
        f"Mean get time: {mean:.5f}, Total: {seconds:.5f}",
    ]


def _seconds(phase: str) -> Callable[[Outcome], float | None]:
    return lambda outcome: outcome.phases[phase].seconds


def _cpu(phase: str) -> Callable[[Outcome], float | None]:
    return lambda outcome: outcome.phases[phase].cpu_s


def _cpu_each(phase: str) -> Callable[[Outcome], float | None]:
    return lambda outcome: outcome.phases[phase].cpu_s / outcome.phases[phase].figures["count"]


def _success(phase: str) -> Callable[[Outcome], float | None]:
    def percent(outcome: Outcome) -> float:
        figures = outcome.phases[phase].figures
        return 100.0 * figures["good"] / figures["count"]

    return percent


def _messages_each(before: str, phase: str) -> Callable[[Outcome], float | None]:
    def messages(outcome: Outcome) -> float | None:
        figures, earlier = outcome.phases[phase].figures, outcome.phases[before].figures
        if "messages" not in figures or "messages" not in earlier:
            return None
        return (figures["messages"] - earlier["messages"]) / figures["count"]

    return messages


def _survival(outcome: Outcome) -> float:
    figures = outcome.phases["survive"].figures
    return 100.0 * figures["alive"] / figures["peers"]


def _judged(name: str, scale: float) -> Callable[[Outcome], float | None]:
    def judged(outcome: Outcome) -> float | None:
        figures = outcome.phases["survive"].figures
        return scale * figures[name] if name in figures else None

    return judged


METRICS = (
    Metric("create", "s", "less", "Create", _seconds("create")),
    Metric("create_cpu", "s", "less", "Create, CPU", _cpu("create")),
    Metric("store", "s", "less", "Store", _seconds("store")),
    Metric("store_cpu", "s", "less", "Store, CPU per record", _cpu_each("store")),
    Metric("store_messages", "messages", "less", "Store, messages per record", _messages_each("create", "store")),
    Metric("store_success", "%", "more", "Store success", _success("store")),
    Metric("get", "s", "less", "Get", _seconds("get")),
    Metric("get_cpu", "s", "less", "Get, CPU per key", _cpu_each("get")),
    Metric("get_messages", "messages", "less", "Get, messages per key", _messages_each("store", "get")),
    Metric("get_success", "%", "more", "Get success", _success("get")),
    Metric("survival", "%", "more", "Survival", _survival),
    Metric("true_holders", "%", "more", "Held by all of the true nearest", _judged("true_holders", 100.0)),
    Metric("replicas", "peers", "more", "Holders of a key", _judged("replicas", 1.0)),
    Metric("memory", "B", "less", "Memory of all processes", lambda outcome: float(outcome.memory_bytes)),
)
