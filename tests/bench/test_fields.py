"""Results as plain values: the same fields for all, in JSON as in CSV."""

from __future__ import annotations

import msgspec
import pytest

from strobe.bench.fields import FIELDS, as_fields
from strobe.bench.records import Correct, Environment, Repeat
from strobe.bench.workload import Work
from tests.bench.results import latency, result


def test_fields_are_the_same_for_every_record() -> None:
    for record in (result([1.0]), result([], error="failed"), result([1.0], latency=latency("missed"))):
        assert tuple(as_fields(record)) == FIELDS
    assert as_fields(result([1.0], latency=latency("missed")))["latency_status"] == "missed"


@pytest.mark.parametrize("mark", ["is_trial", "is_confirmation", "is_changed"])
def test_fields_say_which_rows_are_set_aside(mark: str) -> None:
    assert as_fields(msgspec.structs.replace(result([1.0]), **{mark: True}))[mark] is True
    assert as_fields(result([1.0]))[mark] is False


def test_memory_of_a_card_is_a_field_where_it_was_measured() -> None:
    sizes = (7, None, 9)
    repeats = tuple(Repeat(wall_s=(1.0,), cpu_s=(1.0,), peak_card_bytes=size) for size in sizes)
    assert as_fields(result([1.0], repeats=repeats))["peak_card_bytes"] == 9
    assert as_fields(result([1.0], repeats=repeats[1:2]))["peak_card_bytes"] is None


def test_fields_say_where_and_under_which_load_it_was_measured() -> None:
    repeat = Repeat(wall_s=(1.0, 1.0), cpu_s=(1.5, 1.7), inner_loops=4, load_before=0.5, steal_percent=2.0)
    known = result(
        [1.0],
        repeats=(repeat,),
        correctness=Correct(is_correct=True, error=0.0, max_error=0.0, tolerance=1e-3, reference="r"),
        work=Work(examples=8, flops=6e9, bytes=2e6),
        environment=Environment(host="bench-1", git_commit="c0ffee", is_dirty=True),
    )
    fields = as_fields(known)
    wanted = {"host": "bench-1", "git_commit": "c0ffee", "is_dirty": True, "cpu_s": 1.6, "inner_loops": 4}
    wanted |= {"load_before": 0.5, "steal_percent": 2.0, "flops": 6e9, "bytes": 2e6, "output_tolerance": 1e-3}
    assert {name: fields[name] for name in wanted} == wanted
    bare = as_fields(result([]))
    assert [bare[name] for name in ("cpu_s", "load_before", "flops", "peak_flops")] == [None] * 4
