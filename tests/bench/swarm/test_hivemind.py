"""The programs that measure hivemind, at a tiny size, where it is installed: they run, and every figure is there."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import msgspec
import pytest

from strobe.bench.swarm import averaging, benchmark, compression, dht, throughput
from strobe.bench.swarm.benchmark import Case, Metric
from strobe.bench.swarm.program import Listener
from strobe.bench.swarm.subject import hivemind

#: read here, before the environment of a test is scrubbed
_NAMED = os.environ.get("STROBE_BENCH_VENVS")


def _directory() -> Path:
    from strobe.bench.load import venvs

    return Path(_NAMED).expanduser() if _NAMED else venvs.default_directory()


_THROUGHPUT = throughput.make_job(
    "default", num_experts=1, num_clients=2, num_batches_per_client=2, batch_size=4, hid_dim=16
)
_AVERAGING = averaging.Job(num_peers=2, target_group_size=2, num_rounds=1, hid_size=8, num_layers=1)
_DHT = dht.Job(num_peers=4, num_experts=6, expert_batch_size=3)
_COMPRESSION = compression.Job(size=5000, num_iters=1)
#: what only we can tell, or do
_OURS = {"true_holders", "replicas", "store_messages", "get_messages"} | {
    f"bfloat16_{figure}" for figure in ("time", "error", "size")
}


@pytest.mark.long
@pytest.mark.timeout(400)
@pytest.mark.skipif(sys.platform == "win32", reason="hivemind has no Windows")
@pytest.mark.parametrize(
    ("name", "job", "listener", "metrics"),
    [
        ("dht", _DHT, dht.Lines(_DHT, lambda line: None, None), dht.METRICS),
        ("throughput", _THROUGHPUT, throughput.Lines(_THROUGHPUT, lambda line: None), throughput.METRICS),
        ("averaging", _AVERAGING, averaging.Lines(lambda line: None), averaging.METRICS),
        ("compression", _COMPRESSION, compression.Lines(lambda line: None), compression.METRICS),
    ],
    ids=["dht", "throughput", "averaging", "compression"],
)
def test_each_program_runs_and_tells_its_figures(
    name: str, job: msgspec.Struct, listener: Listener, metrics: tuple[Metric, ...]
) -> None:
    if not (_directory() / "hivemind" / "bin" / "python").exists():
        pytest.skip("hivemind is not installed; `strobe bench swarm dht --peer hivemind` does it (1.5 GB)")
    subject = hivemind(print, _directory())
    records = benchmark.run(name, Case("test", job, {}, lambda: listener), metrics, [subject], timeout_s=300)
    assert [record.error for record in records if record.error] == []
    found = {record.metric: record.samples[0] for record in records}
    assert found.keys() >= {metric.name for metric in metrics} - _OURS
    assert {record.subject_version for record in records} == {"1.1.12"}
    assert all(found[metric] == 100 for metric in ("store_success", "get_success", "survival") if metric in found)
    assert all(found[metric] > 0 for metric in ("store", "get", "throughput", "step", "none_time") if metric in found)
