"""`strobe bench swarm throughput` and `compression`: hivemind's presets and lines, and small runs of our own."""

from __future__ import annotations

import msgspec
import pytest

from strobe.bench.swarm import benchmark, compression, throughput
from strobe.bench.swarm.benchmark import Case, Metric
from strobe.bench.swarm.event import About
from strobe.bench.swarm.program import Listener, Phase
from strobe.bench.swarm.subject import LOCAL, STROBE, Subject
from strobe.errors import UsageError


def phase(name: str, seconds: float, memory_bytes: int = 0, **figures: float) -> Phase:
    return Phase(name, seconds, 0.0, memory_bytes, figures)


def test_lines_are_those_of_hivemind() -> None:
    """The page's own run, whose figures these are."""
    lines: list[str] = []
    listener = throughput.Lines(throughput.make_job("ffn_forward", device="cuda"), lines.append)
    listener.about(About("1", {"device_name": "GeForce GTX 1080 Ti"}))
    listener.ended(phase("startup", 19.941, experts=3.065, networking=16.877))
    listener.ended(phase("work", 42.9725, samples=4194304, allocated_gb=1.5, cached_gb=3.2))
    listener.ended(phase("end", 1.0, took=63.167))
    assert lines == [
        "Benchmark finished, status:Success",
        "Server parameters: num_experts=16, num_handlers=64, max_batch_size=8192, expert_cls=ffn, hid_dim=1024, "
        "device=cuda",
        "Client parameters: num_clients=128, num_batches_per_client=16, batch_size=2048, backprop=False",
        "Results: ",
        "\tServer startup took 19.941 s. (3.065 s. experts + 16.877 s. networking)",
        "\tProcessed 4194304 examples in 42.972",
        "\tThroughput for forward passes: 97604.375 samples / s.",
        "\tBenchmarking took 63.167 s.",
        "Using device: cuda",
        "GeForce GTX 1080 Ti",
        "Memory Usage:",
        "Allocated: 1.5 GB",
        "Cached:    3.2 GB",
    ]


@pytest.mark.parametrize(
    ("preset", "expected"),
    [
        ("default", (16, 64, 128, 2048, 8192, True)),
        ("ffn_small_batch", (4, 64, 128, 32, 8192, False)),
        ("ffn_small_batch_512clients", (1, 256, 512, 1, 8192, True)),
        ("ffn_small_batch_512clients_32handlers", (1, 32, 512, 1, 8192, True)),
        ("ffn_massive", (16, 256, 512, 512, 8192, False)),
        ("minimalistic", (1, 1, 1, 2048, 8192, True)),
        ("nop", (16, 64, 128, 2048, 8192, False)),
    ],
)
def test_presets_are_those_of_hivemind(preset: str, expected: tuple[object, ...]) -> None:
    job = throughput.make_job(preset)
    names = ("num_experts", "num_handlers", "num_clients", "batch_size", "max_batch_size", "backprop")
    assert tuple(getattr(job, name) for name in names) == expected
    assert job.expert_cls == ("nop" if preset == "nop" else "ffn")


def test_what_is_given_replaces_a_part_of_the_preset() -> None:
    job = throughput.make_job("nop", num_clients=4, batch_size=8)
    assert (job.num_handlers, job.max_batch_size, job.num_experts) == (2, 32, 16)
    with pytest.raises(UsageError, match="no preset"):
        throughput.make_job("fast")
    with pytest.raises(UsageError, match="num_clients"):
        throughput.make_job("nop", num_clients=0)


def test_the_line_of_a_compression_is_hiveminds() -> None:
    line = compression.line_of(phase("UNIFORM_8BIT", 0.642, iters=3, error=0.00026, bytes=1001032))
    assert line == "Compression type: UNIFORM_8BIT, time: 0.21400, compression error: 0.00026, size: 1001032"


def measure(
    name: str, job: msgspec.Struct, listener: Listener, metrics: tuple[Metric, ...], subjects: list[Subject]
) -> dict[tuple[str, str], float]:
    records = benchmark.run(name, Case("test", job, {}, lambda: listener), metrics, subjects, timeout_s=100)
    assert [record.error for record in records if record.error] == []
    return {(record.subject, record.metric): record.samples[0] for record in records}


@pytest.mark.slow
@pytest.mark.frameworks
@pytest.mark.parametrize("plain", [False, pytest.param(True, marks=pytest.mark.long)])
def test_a_small_run_of_each_of_ours(plain: bool) -> None:
    lines: list[str] = []
    job = throughput.make_job(
        "default", num_experts=2, num_clients=3, num_batches_per_client=2, batch_size=4, hid_dim=16, client_processes=2
    )
    job = msgspec.structs.replace(job, plain=plain)
    subjects = [STROBE] if plain else [STROBE, LOCAL]
    found = measure("throughput", job, throughput.Lines(job, lines.append), throughput.METRICS, subjects)
    assert found["strobe", "throughput"] == pytest.approx(4 * found["strobe", "requests"])
    assert f"\tProcessed {3 * 2 * 4} examples in" in "\n".join(lines)


@pytest.mark.slow
@pytest.mark.frameworks
@pytest.mark.parametrize("kind", ["transformer", "det_dropout"])
def test_experts_that_take_a_mask_get_one(kind: str) -> None:
    job = throughput.make_job(
        "minimalistic", expert_cls=kind, num_batches_per_client=1, batch_size=2, hid_dim=16, client_processes=1
    )
    found = measure("throughput", job, throughput.Lines(job, lambda line: None), throughput.METRICS, [STROBE, LOCAL])
    assert found["strobe", "throughput"] > 0
    assert found["local", "throughput"] > 0


@pytest.mark.slow
@pytest.mark.frameworks
def test_each_compression_is_measured() -> None:
    lines: list[str] = []
    job = compression.Job(size=20_000, num_iters=2)
    found = measure("compression", job, compression.Lines(lines.append), compression.METRICS, [STROBE])
    assert found["strobe", "none_error"] == 0
    assert 0 < found["strobe", "uniform_8bit_error"] < 1e-3
    assert found["strobe", "float16_size"] == pytest.approx(40_000, rel=0.02)
    assert len(lines) == 6
