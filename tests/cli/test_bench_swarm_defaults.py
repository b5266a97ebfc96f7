"""`strobe bench swarm`: flags have the defaults of the jobs that they fill.

The command that measures a record again leaves out what is a job's default, so a flag with another one would measure
something else in silence.
"""

from __future__ import annotations

import argparse

import msgspec
import pytest

from strobe.bench.swarm import averaging, benchmark, compression, dht, throughput
from strobe.cli.parser import build


@pytest.mark.parametrize(
    ("command", "job"),
    [("dht", dht.Job()), ("averaging", averaging.Job()), ("compression", compression.Job())],
)
def test_flags_have_the_defaults_of_their_job(command: str, job: msgspec.Struct) -> None:
    given = vars(_parse(command))
    wanted = msgspec.structs.asdict(job)
    if command == "dht":  # several numbers of peers can be asked for, and `all` processes
        wanted |= {"num_peers": [wanted["num_peers"]], "processes": str(wanted["processes"])}
    assert {name: given[name] for name in wanted} == wanted


def test_a_preset_is_changed_by_nothing_that_was_not_given() -> None:
    given = vars(_parse("throughput"))
    assert {given[name] for name in throughput.Job.__struct_fields__} == {None}


@pytest.mark.parametrize("command", ["dht", "averaging", "compression", "throughput"])
def test_repeats_and_time_limits_are_left_out_where_they_are_the_defaults(command: str) -> None:
    given = _parse(command)
    job = dht.Job()
    assert benchmark.command_of(command, job, repeat=given.repeat, timeout_s=given.timeout) == benchmark.command_of(
        command, job
    )


def _parse(command: str) -> argparse.Namespace:
    words = ["bench", "swarm", command]
    return build(words).parse_args(words)
