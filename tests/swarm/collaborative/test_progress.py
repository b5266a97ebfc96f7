"""From reports to an outlook, with a clock that the test holds."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strobe.errors import UsageError
from strobe.swarm.collaborative.progress import Looks, Pace, Progress
from strobe.swarm.collaborative.report import (
    MOST_EPOCHS_AHEAD,
    PeerReport,
    parse_reports,
    progress_key,
    report_rules,
)
from strobe.swarm.dht import CompositeValidator, RawRecord, ValueWithExpiration
from strobe.swarm.dht.id import place_of
from strobe.swarm.dht.value import pack
from strobe.swarm.net.identity import Identity

NOW = 1000.0
LOOKS = Looks(least_s=0.5, most_s=10.0, life_s=30.0, max_skew_s=3.0)
ADDRESS = f"strobe://{'a' * 32}@127.0.0.1:4000"


def report(epoch: int = 5, samples: int = 0, rate: float = 0.0, time: float = NOW, **more: Any) -> PeerReport:
    more.setdefault("client_mode", False)
    return PeerReport(epoch=epoch, samples=samples, samples_per_s=rate, time=time, **more)


def progress_of(*others: PeerReport, target: int = 100) -> Progress:
    progress = Progress(target, LOOKS)
    progress.heard({f"peer {number}": other for number, other in enumerate(others)}, NOW)
    return progress


def test_one_who_is_alone_knows_only_itself() -> None:
    outlook = progress_of().outlook(report(samples=40, rate=20.0), NOW)
    assert (outlook.epoch, outlook.samples, outlook.num_peers, outlook.num_together) == (5, 40, 1, 1)
    assert outlook.seconds_left == pytest.approx(3.0)
    assert outlook.look_again_s == pytest.approx(1.5)
    assert not outlook.is_ready


def test_samples_of_the_same_epoch_are_counted_together() -> None:
    others = [report(samples=30, rate=1.0), report(samples=20, rate=2.0, client_mode=True)]
    outlook = progress_of(*others).outlook(report(samples=49, rate=1.0), NOW)
    assert (outlook.samples, outlook.num_peers, outlook.num_clients, outlook.is_ready) == (99, 3, 1, False)
    assert outlook.seconds_left == pytest.approx(1 / 4)
    assert outlook.look_again_s == LOOKS.least_s
    assert progress_of(*others).outlook(report(samples=50), NOW).is_ready


def test_those_who_average_are_of_the_same_epoch_and_heard_of_lately() -> None:
    def num_averaging(**more: Any) -> int:
        return progress_of(report(is_averaging=True, **more)).outlook(report(), NOW).num_averaging

    assert [num_averaging(time=NOW - age) for age in (0.0, 22.0, 24.0)] == [1, 1, 0]
    assert (num_averaging(epoch=4), num_averaging(epoch=6)) == (0, 0)


def test_time_that_passed_brings_the_end_nearer_but_is_no_progress() -> None:
    progress = progress_of(report(samples=10, rate=10.0))
    for later, seconds_left in ((0.0, 9.0), (5.0, 4.0), (9.0, 0.0), (20.0, 0.0)):
        outlook = progress.outlook(report(), NOW + later)
        assert outlook.seconds_left == pytest.approx(seconds_left)
        assert outlook.samples == 10
        assert not outlook.is_ready


@pytest.mark.parametrize(
    ("other", "why"),
    [
        (report(samples=500, time=NOW - 31), "stale"),
        (report(samples=500, time=NOW + 4), "from the future"),
        (report(samples=10_001), "more than a hundred batches"),
        (report(time=0.0, samples=90), "has left"),
        (report(epoch=5 + MOST_EPOCHS_AHEAD + 1), "further than anybody can follow"),
    ],
)
def test_what_cannot_be_true_counts_as_absent(other: PeerReport, why: str) -> None:
    progress = progress_of(other)
    outlook = progress.outlook(report(samples=20), NOW)
    assert (outlook.samples, outlook.num_peers, outlook.epoch) == (20, 1, 5), why
    assert progress.ahead(5) == []


def test_a_small_model_on_a_fast_machine_counts_however_quick_it_is() -> None:
    progress = progress_of(report(epoch=6, samples=90, rate=1e9))
    assert progress.outlook(report(samples=20), NOW).epoch == 6
    assert len(progress.ahead(5)) == 1
    # But its pace is limited, and so is how often others look for its sake.
    limited = progress_of(report(samples=20, rate=1e9)).outlook(report(), NOW)
    assert limited.samples_per_s == 100 * progress.target_batch_size / progress.looks.least_s
    assert limited.look_again_s == progress.looks.least_s


def test_a_report_grows_stale_while_nobody_looks() -> None:
    progress = progress_of(report(samples=100))
    assert progress.outlook(report(), NOW + 29).is_ready
    assert not progress.outlook(report(), NOW + 31).is_ready


def test_older_epochs_do_not_count_and_later_ones_show_who_is_behind() -> None:
    progress = progress_of(report(epoch=4, samples=500), report(epoch=7, samples=70, rate=5.0))
    outlook = progress.outlook(report(epoch=5, samples=10), NOW)
    assert (outlook.epoch, outlook.samples, outlook.num_peers, outlook.num_together) == (7, 10, 3, 1)
    assert outlook.seconds_left == math.inf
    assert outlook.look_again_s == LOOKS.most_s


def test_who_is_ahead_can_be_named_and_forgotten() -> None:
    progress = progress_of(report(epoch=6), report(epoch=8), report(epoch=5), report(epoch=4))
    assert [mark for mark, _ in progress.ahead(5)] == ["peer 0", "peer 1"]
    progress.forget("peer 1")
    assert [mark for mark, _ in progress.ahead(5)] == ["peer 0"]
    assert progress.outlook(report(epoch=5), NOW).epoch == 6


def test_the_pace_leaves_out_the_time_of_waiting() -> None:
    pace = Pace()
    assert pace.samples_per_s == 0
    pace.resume(0.0)
    pace.add(10, 1.0)
    assert pace.samples_per_s == pytest.approx(10.0)
    pace.resume(61.0)  # a minute with the others
    pace.add(10, 62.0)
    assert pace.samples_per_s == pytest.approx(10.0)
    for second in range(63, 120):
        pace.add(20, float(second))
    assert pace.samples_per_s == pytest.approx(20.0, rel=0.01)


def test_impossible_choices_are_refused() -> None:
    with pytest.raises(UsageError, match="target_batch_size is 0"):
        Progress(0)
    with pytest.raises(UsageError, match="greater than the one before"):
        Looks(most_s=60.0)


@given(
    st.lists(
        st.builds(
            report,
            epoch=st.integers(0, 1 << 40),
            samples=st.integers(0, 1 << 50),
            rate=st.floats(0, 1e12),
            time=st.floats(0, 1e12),
        )
    ),
    st.integers(0, 1000),
)
def test_whatever_is_reported_the_outlook_makes_sense(others: list[PeerReport], samples: int) -> None:
    outlook = progress_of(*others).outlook(report(samples=samples, rate=1.0), NOW)
    assert samples <= outlook.samples <= samples + len(others) * 10_000
    assert LOOKS.least_s <= outlook.look_again_s <= LOOKS.most_s
    assert 0 <= outlook.seconds_left <= 100
    assert 5 <= outlook.epoch <= 5 + MOST_EPOCHS_AHEAD


# -- reports as they stand in the DHT


def _record(value: Any, mark: str, run_id: str = "run") -> RawRecord:
    return RawRecord(place_of(progress_key(run_id)), pack(mark), pack(value), NOW + 30)


def test_only_signed_reports_of_the_right_form_are_held() -> None:
    mark, rules = report_rules("run", Identity(b"a" * 32))
    validator = CompositeValidator(rules)
    good = msgspec.to_builtins(report(samples=3, address=ADDRESS))

    def is_held(value: Any, subkey: str = mark) -> bool:
        record = _record(value, subkey)
        return validator.validate(record._replace(value=validator.sign_value(record)))

    assert is_held(good)
    assert not validator.validate(_record(good, mark)), "not signed"
    assert not is_held(good, "anybody")
    assert not is_held(good, "prefix" + mark)
    for field, value in {
        "epoch": -1,
        "samples": "3",
        "samples_per_s": math.nan,
        "time": math.inf,
        "word": "ä",
        "more": 1,
    }.items():
        assert not is_held({**good, field: value}), field
    assert not is_held([])


def test_a_record_is_read_report_by_report() -> None:
    mark, _ = report_rules("run", Identity(b"a" * 32))
    good = report(samples=3)
    entries = {
        mark: ValueWithExpiration(msgspec.to_builtins(good), NOW),
        mark.replace("a", "b"): ValueWithExpiration({"epoch": 1}, NOW),
        "anybody": ValueWithExpiration(msgspec.to_builtins(good), NOW),
        7: ValueWithExpiration(1, NOW),
    }
    assert parse_reports(ValueWithExpiration(entries, NOW)) == {mark: good}
    assert parse_reports(ValueWithExpiration("plain", NOW)) == {}
    assert parse_reports(None) == {}
