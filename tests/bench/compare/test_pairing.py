"""What may be compared with what."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from strobe.bench.compare import compare
from strobe.bench.compare.pairing import (
    Added,
    distinct_names,
    environment_diff,
    machine,
    newest,
    of_machine,
    pair,
    pair_implementations,
    row_name,
)
from strobe.bench.records import Environment
from strobe.errors import UsageError
from tests.bench.results import ELSEWHERE, HERE, result


def test_the_newest_record_of_a_row_counts() -> None:
    old, new = result([1.0]), result([2.0])
    (found,) = pair([old, msgspec.structs.replace(new, id=old.id + "z")], [result([3.0])]).pairs
    assert found.a.samples == (2.0,)


def test_another_batch_is_another_row() -> None:
    found = pair([result([1.0], batch_size=8)], [result([1.0], batch_size=16)])
    assert found.pairs == ()
    assert found.left_out == (
        ("toy/ootb/inference/one-fp32 B=16", "only in B"),
        ("toy/ootb/inference/one-fp32 B=8", "only in A"),
    )


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"version": 2}, "version 1 in A, 2 in B"),
        ({"seal": "bbbbbbbbbb"}, "changed without a new version (seal aaaaaaaa in A, bbbbbbbb in B)"),
        ({"unit": "GB/s"}, "ex/s in A, GB/s in B"),
        ({"is_changed": True}, "its sealed code had changed under its version (B)"),
        ({"device": "cuda"}, "cuda in B, cpu in A"),
        ({"threads": 2}, "2 thread(s) in B, threads unknown in A"),
        ({"options": {"steps": 100}}, "steps=100 in B, no sizes in A"),
    ],
)
def test_what_is_not_the_same_is_left_out_with_its_reason(fields: dict[str, Any], reason: str) -> None:
    found = pair([result([1.0], seal="aaaaaaaaaa")], [result([1.0], **{"seal": "aaaaaaaaaa", **fields})])
    assert found.pairs == ()
    assert found.left_out[0].name.startswith("toy/ootb/inference/one-fp32 B=8")
    assert reason in found.left_out[0].reason


def test_two_machines_are_refused_with_what_differs() -> None:
    a, b = [result([1.0])], [result([1.0], environment=ELSEWHERE)]
    with pytest.raises(UsageError, match=r"two machines \(cpu: here v. elsewhere; cores: 2 v. 64\).*--systems"):
        pair(a, b)
    assert len(pair(a, b, across_systems=True).pairs) == 1


def test_software_that_earlier_results_did_not_name_is_a_difference_and_no_obstacle() -> None:
    named = msgspec.structs.replace(HERE, software={**HERE.software, "c_compiler": "gcc 12.2.0"})
    (found,) = pair([result([1.0])], [result([1.0], environment=named)]).pairs
    assert environment_diff(found.a.environment, found.b.environment) == [("c_compiler", "", "gcc 12.2.0")]


def test_old_records_are_told_apart_by_what_they_know() -> None:
    a = result([1.0], environment=Environment(host="one", cpu="x"))
    b = result([1.0], environment=Environment(host="two", cpu="x"))
    with pytest.raises(UsageError, match=r"host: one v\. two"):
        pair([a], [b])


def test_another_library_is_a_difference_but_no_obstacle() -> None:
    newer = msgspec.structs.replace(HERE, software={"torch": "2.2"}, git_commit="beef")
    (found,) = pair([result([1.0])], [result([1.0], environment=newer)]).pairs
    assert environment_diff(found.a.environment, found.b.environment) == [
        ("torch", "2.1", "2.2"),
        ("git_commit", "c0ffee", "beef"),
    ]


def test_an_optimized_row_meets_the_ootb_row_that_does_the_same() -> None:
    rows = [
        result([1.0], "dlrm/ootb/inference/tiny"),
        result([1.0], "dlrm/ootb/training/tiny"),
        result([1.0], "dlrm/optimized/inference/tiny-embed8-int8"),
        result([1.0], "xlm-r/ootb/inference/base-s32-fp32"),
        result([1.0], "xlm-r/ootb/inference/large-s64-fp32"),
        result([1.0], "xlm-r/optimized/inference/base-s32-int8"),
        result([1.0], "dlrm/ootb/inference/A.1dev-embed4-fp16"),
        result([1.0], "dlrm/ootb/inference/A.1dev-embed4-fp32"),
        result([1.0], "dlrm/optimized/inference/A.1dev-embed4-int8"),
        result([1.0], "dlrm/optimized/inference/A.1dev-embed4-fp32"),
        result([1.0], "cvt/optimized/inference/alone-fp32"),
        result([1.0], "dlrm/micro/linear/mlp_A"),
    ]
    found = pair_implementations(rows)
    assert [(one.a.benchmark, one.b.benchmark) for one in found.pairs] == [
        ("dlrm/ootb/inference/tiny", "dlrm/optimized/inference/tiny-embed8-int8"),
        ("xlm-r/ootb/inference/base-s32-fp32", "xlm-r/optimized/inference/base-s32-int8"),
        ("dlrm/ootb/inference/A.1dev-embed4-fp32", "dlrm/optimized/inference/A.1dev-embed4-int8"),
        ("dlrm/ootb/inference/A.1dev-embed4-fp32", "dlrm/optimized/inference/A.1dev-embed4-fp32"),
    ]
    assert [name for name, _ in found.left_out] == ["cvt/optimized/inference/alone-fp32 B=8"]


def test_implementations_of_one_session_were_measured_in_turns() -> None:
    began = msgspec.structs.replace(HERE, started_at="2026-11-16T06:00:00+00:00")
    later = msgspec.structs.replace(HERE, started_at="2026-11-16T07:00:00+00:00")

    def is_interleaved(samples: list[float], environment: Environment) -> bool:
        a = result([1.0, 2.0], "toy/ootb/x/one-fp32", environment=began)
        b = result(samples, "toy/optimized/x/one-fp32", environment=environment)
        return pair_implementations([a, b]).pairs[0].is_interleaved

    assert is_interleaved([1.0, 2.0], began)
    assert not is_interleaved([1.0, 2.0], later)
    assert not is_interleaved([1.0], began)
    assert not is_interleaved([1.0, 2.0], HERE)


def test_the_name_says_what_is_unusual_about_a_row() -> None:
    place = msgspec.structs.replace(HERE, cpu_count=2)
    assert row_name(result([1.0], threads=2, environment=place)) == "toy/ootb/inference/one-fp32 B=8"
    assert row_name(result([1.0], threads=1, environment=place)) == "toy/ootb/inference/one-fp32 B=8 threads=1"
    assert row_name(result([1.0], device="cuda:1")) == "toy/ootb/inference/one-fp32 B=8 cuda:1"
    serving = msgspec.structs.replace(result([1.0]), metric="serving")
    assert row_name(serving) == "toy/ootb/inference/one-fp32 B=8 serving"


def test_old_records_have_their_threads_from_the_software() -> None:
    noted = msgspec.structs.replace(HERE, software={"threads": "2"})
    old, new = result([1.0], environment=noted), result([2.0], threads=2, environment=noted)
    assert len(pair([old], [new]).pairs) == 1
    assert pair([old], [msgspec.structs.replace(new, threads=1)]).pairs == ()


def test_devices_and_threads_do_not_hide_each_other() -> None:
    rows = [result([1.0]), result([1.0], device="cuda"), result([1.0], threads=1), result([1.0], threads=2)]
    assert list(newest(rows).values()) == rows


def test_two_machines_in_one_file_do_not_hide_each_other() -> None:
    here, there = result([1.0]), result([2.0], environment=ELSEWHERE)
    assert list(newest([here, there]).values()) == [here, there]
    found = pair([here, there], [result([3.0])])
    assert [(one.a, one.b.samples) for one in found.pairs] == [(here, (3.0,))]
    assert found.left_out == (("toy/ootb/inference/one-fp32 B=8", "measured on elsewhere only in A"),)


def test_a_row_that_b_has_on_a_second_machine_is_no_row_of_a_that_is_missing() -> None:
    here, there = result([1.0]), result([2.0], environment=ELSEWHERE)
    found = pair([here], [result([3.0]), there])
    assert [(one.a, one.b.samples) for one in found.pairs] == [(here, (3.0,))]
    assert found.left_out == (Added("toy/ootb/inference/one-fp32 B=8", "measured on elsewhere only in B"),)
    assert compare(found).missing == ()


def test_a_row_meets_that_of_another_machine_which_has_no_counterpart_of_its_own() -> None:
    third = Environment(hardware={"cpu": "third"})
    of_a = [result([1.0], environment=third, id="1"), result([1.0], id="2")]
    found = pair(of_a, [result([1.0]), result([1.0], environment=ELSEWHERE)])
    assert len(found.pairs) == 1
    ((_, reason),) = compare(found).missing
    assert reason == "measured on another machine in A; --systems compares them"


def test_a_row_of_another_machine_is_left_out_beside_those_of_this_one() -> None:
    other = "toy/ootb/inference/two-fp32"
    found = pair([result([1.0]), result([1.0], other, environment=ELSEWHERE)], [result([1.0]), result([1.0], other)])
    assert [one.b.benchmark for one in found.pairs] == ["toy/ootb/inference/one-fp32"]
    assert "another machine in A; --systems" in found.left_out[0].reason


def test_rows_of_two_machines_do_not_mix_in_one_comparison() -> None:
    other = "toy/ootb/inference/two-fp32"
    sides = [[result([1.0]), result([1.0], other, environment=ELSEWHERE)] for _ in "ab"]
    with pytest.raises(UsageError, match=r"both measured on here, elsewhere, and none is this .* with --machine"):
        pair(*sides)
    for here, kept, gone in ((HERE, 0, 1), (ELSEWHERE, 1, 0)):
        found = pair(*sides, here=machine(here))
        assert [one.b for one in found.pairs] == [sides[1][kept]]
        ((name, reason),) = found.left_out
        assert name == row_name(sides[1][gone])
        assert reason.startswith("measured on another machine (")
    assert len(pair(*sides, across_systems=True).pairs) == 2


def test_the_machine_of_all_rows_need_not_be_this_one() -> None:
    assert len(pair([result([1.0])], [result([2.0])], here=machine(ELSEWHERE)).pairs) == 1


def test_systems_may_differ_in_their_threads() -> None:
    a, b = result([1.0], threads=2), result([1.0], threads=64, environment=ELSEWHERE)
    assert len(pair([a], [b], across_systems=True).pairs) == 1


def test_implementations_meet_on_their_own_machine_and_device() -> None:
    plain = [result([1.0], device="cuda"), result([1.0], environment=ELSEWHERE), result([1.0])]
    fast = result([2.0], "toy/optimized/inference/one-fp32")
    (found,) = pair_implementations([*plain, fast]).pairs
    assert found.a is plain[2]


def test_a_trial_of_a_search_is_compared_with_nothing() -> None:
    trial, proper = result([9.0], is_trial=True), result([1.0])
    assert list(newest([proper, msgspec.structs.replace(trial, id=proper.id + "z")]).values()) == [proper]
    assert list(newest([trial]).values()) == [trial]
    assert pair([proper], [trial]).pairs == ()
    assert pair_implementations([proper, result([2.0], "toy/optimized/inference/one-fp32", is_trial=True)]).pairs == ()


def test_systems_are_compared_with_the_same_threads_where_both_have_them() -> None:
    same = result([1.0], threads=2)
    newer = result([1.0], threads=1, id=same.id + "z")
    (found,) = pair([same, newer], [result([1.0], threads=2, environment=ELSEWHERE)], across_systems=True).pairs
    assert found.a is same


@pytest.mark.parametrize(("side", "changed"), [("A", (True, False)), ("B", (False, True))])
def test_an_implementation_whose_sealed_code_had_changed_is_left_out(side: str, changed: tuple[bool, bool]) -> None:
    rows = [
        result([1.0], f"toy/{name}/inference/one-fp32", is_changed=is_changed)
        for name, is_changed in zip(("ootb", "optimized"), changed, strict=True)
    ]
    found = pair_implementations(rows)
    assert found.pairs == ()
    reason = f"its sealed code had changed under its version ({side})"
    assert found.left_out == (("toy/optimized/inference/one-fp32 B=8", reason),)


def test_a_machine_whose_host_changes_is_one_machine() -> None:
    """As those that run CI do, whose containers have a new name each time."""
    hardware = ({"cpu": "EPYC"}, {"cpu": "Xeon"})
    a, b = (
        [
            result([1.0], f"toy/ootb/inference/{cpu['cpu']}-fp32", environment=Environment(host=host, hardware=cpu))
            for host, cpu in zip(hosts, hardware, strict=True)
        ]
        for hosts in (("ci-1", "ci-2"), ("ci-3", "ci-4"))
    )
    with pytest.raises(UsageError, match="both measured on ci-1, ci-2, and none"):
        pair(a, b)
    for name in ("ci-1", "ci-3", "EPYC"):
        (found,) = pair(*of_machine(name, a, b)).pairs
        assert (found.a, found.b) == (a[0], b[0])


def test_machines_that_share_a_host_are_called_by_what_tells_them_apart() -> None:
    """As after a new processor was put in, or a card."""
    old, new = (Environment(host="node", hardware={"cpu": "one", "card": name}) for name in ("old", "new"))
    other = Environment(host="far", cpu="one", hardware={"cpu": "one"})
    names = distinct_names([old, new, other])
    assert list(names.values()) == [old.fingerprint, new.fingerprint, "far"]
    rows = [result([1.0], environment=one) for one in (old, new, other)]
    assert of_machine("node", rows) == (rows[:2],)
    assert of_machine(new.fingerprint[:5], rows, []) == ([rows[1]], [])
    for name in ("", "nod"):
        with pytest.raises(UsageError, match=rf"there are: {old.fingerprint}, {new.fingerprint}, far \("):
            of_machine(name, rows)
