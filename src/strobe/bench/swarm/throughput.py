"""`strobe bench swarm throughput`: hivemind's presets and parameters, its lines, and what is recorded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from strobe.bench import machine
from strobe.bench.swarm.benchmark import Metric
from strobe.bench.swarm.event import About
from strobe.bench.swarm.program import Listener, Outcome, Phase
from strobe.errors import UsageError

#: by name, what differs from the defaults of Job
PRESETS: Mapping[str, Mapping[str, Any]] = {
    "default": {},
    "ffn_forward_backward": {},
    "ffn_forward": {"backprop": False},
    "ffn_small_batch": {"backprop": False, "num_experts": 4, "batch_size": 32, "max_batch_size": 8192},
    "ffn_small_batch_512clients": {"num_experts": 1, "batch_size": 1, "max_batch_size": 8192, "num_clients": 512},
    "ffn_small_batch_512clients_32handlers": {
        "num_experts": 1,
        "batch_size": 1,
        "max_batch_size": 8192,
        "num_clients": 512,
        "num_handlers": 32,
    },
    "ffn_massive": {"backprop": False, "num_clients": 512, "batch_size": 512, "max_batch_size": 8192},
    "minimalistic": {"num_experts": 1, "num_clients": 1, "num_handlers": 1},
    "nop": {"expert_cls": "nop", "backprop": False},
}


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """hivemind's parameters with the defaults of its script, then our own."""

    num_experts: int = 16
    #: of hivemind's connection handlers; 0: half of the clients. Our server has none
    num_handlers: int = 0
    num_clients: int = 128
    num_batches_per_client: int = 16
    expert_cls: str = "ffn"
    hid_dim: int = 1024
    batch_size: int = 2048
    #: 0: four times the batch
    max_batch_size: int = 0
    backprop: bool = True
    device: str = "cpu"

    plain: bool = False
    #: processes that our clients share, if they are more than that; hivemind's have one each
    client_processes: int = 8

    def __post_init__(self) -> None:
        for name in (
            "num_experts",
            "num_clients",
            "num_batches_per_client",
            "hid_dim",
            "batch_size",
            "client_processes",
        ):
            if getattr(self, name) < 1:
                raise UsageError(f"--{name} must be at least 1, got {getattr(self, name)}")

    @property
    def passes(self) -> str:
        return "forward + backward" if self.backprop else "forward"

    @property
    def variant(self) -> dict[str, str]:
        """What sets its records apart from those of other sizes."""
        return {
            "expert": f"{self.expert_cls}-{self.hid_dim}",
            "experts": str(self.num_experts),
            "clients": str(self.num_clients),
            "batches": f"{self.num_batches_per_client}x{self.batch_size}",
            "passes": self.passes.replace(" ", ""),
            "wire": "plain" if self.plain else "encrypted",
            "device": self.device,
        }


def make_job(preset: str, **given: Any) -> Job:
    """Return the job of a preset, with what was given in its place, and the defaults that follow from others."""
    if preset not in PRESETS:
        raise UsageError(f"no preset {preset!r}; there are {', '.join(PRESETS)}")
    job = Job(**{**PRESETS[preset], **given})
    return msgspec.structs.replace(
        job,
        num_handlers=job.num_handlers or max(1, job.num_clients // 2),
        max_batch_size=job.max_batch_size or 4 * job.batch_size,
    )


class Lines(Listener):
    """Prints what hivemind's benchmark prints when all is done."""

    def __init__(self, job: Job, out: Callable[[str], None]) -> None:
        self._job = job
        self._out = out
        self._device_name = ""
        self._phases: dict[str, Phase] = {}

    def about(self, event: About) -> None:
        self._device_name = event.facts.get("device_name") or machine.describe().cpu

    def ended(self, phase: Phase) -> None:
        self._phases[phase.name] = phase
        if phase.name == "end":
            for line in lines_of(self._job, self._device_name, self._phases):
                self._out(line)


def lines_of(job: Job, device_name: str, phases: Mapping[str, Phase]) -> list[str]:
    """Return the result lines of a run that went well."""
    startup, work, end = phases["startup"], phases["work"], phases["end"]
    samples, seconds = work.figures["samples"], work.seconds
    return [
        "Benchmark finished, status:Success",
        f"Server parameters: num_experts={job.num_experts}, num_handlers={job.num_handlers}, "
        f"max_batch_size={job.max_batch_size}, expert_cls={job.expert_cls}, hid_dim={job.hid_dim}, device={job.device}",
        f"Client parameters: num_clients={job.num_clients}, num_batches_per_client={job.num_batches_per_client}, "
        f"batch_size={job.batch_size}, backprop={job.backprop}",
        "Results: ",
        f"\tServer startup took {startup.seconds:.3f} s. ({startup.figures['experts']:.3f} s. experts + "
        f"{startup.figures['networking']:.3f} s. networking)",
        f"\tProcessed {samples:.0f} examples in {seconds:.3f}",
        f"\tThroughput for {job.passes} passes: {samples / seconds:.3f} samples / s.",
        f"\tBenchmarking took {end.figures['took']:.3f} s.",
        f"Using device: {job.device}",
        device_name,
        "Memory Usage:",
        *_memory_lines(work),
    ]


def _memory_lines(work: Phase) -> list[str]:
    if "allocated_gb" not in work.figures:  # no accelerator: what all processes use
        return [f"Allocated: {work.memory_bytes / 1024**3:.1f} GB"]
    return [f"Allocated: {work.figures['allocated_gb']:.1f} GB", f"Cached:    {work.figures['cached_gb']:.1f} GB"]


def _rate(figure: str) -> Callable[[Outcome], float | None]:
    return lambda outcome: outcome.phases["work"].figures[figure] / outcome.phases["work"].seconds


def _cpu_per_request(outcome: Outcome) -> float:
    work = outcome.phases["work"]
    return work.cpu_s / work.figures["requests"]


METRICS = (
    Metric("throughput", "samples/s", "more", "Throughput", _rate("samples")),
    Metric("requests", "requests/s", "more", "Requests", _rate("requests")),
    Metric("request_cpu", "s", "less", "CPU per request, all processes", _cpu_per_request),
    Metric("startup", "s", "less", "Server startup", lambda outcome: outcome.phases["startup"].seconds),
    Metric("startup_cpu", "s", "less", "Server startup, CPU", lambda outcome: outcome.phases["startup"].cpu_s),
    Metric("took", "s", "less", "Benchmarking took", lambda outcome: outcome.phases["end"].figures["took"]),
    Metric("memory", "B", "less", "Memory of all processes", lambda outcome: float(outcome.memory_bytes)),
)
