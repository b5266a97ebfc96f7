"""Variants apply where they mean something."""

from __future__ import annotations

from pathlib import Path

import pytest

from strobe.bench.load import catalog
from strobe.bench.load.variant import Subject, parse_variant, subjects
from strobe.errors import UsageError

FAKE = catalog.load_tracker(Path(__file__).parent / "fake_tracker.py")
JSONL = catalog.trackers()["jsonl"]


def test_parsing() -> None:
    assert parse_variant("stats=off, console=on") == {"stats": "off", "console": "on"}
    assert parse_variant("") == {}


@pytest.mark.parametrize("text", ["stats", "=off", "stats=", "a=b,c"])
def test_a_part_without_name_and_value_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="feature=value"):
        parse_variant(text)


def test_a_tracker_without_the_feature_is_measured_once() -> None:
    found = subjects([FAKE, JSONL], [{"colour": "red"}, {"colour": "blue"}])
    assert [subject.label for subject in found] == ["fake colour=red", "fake colour=blue", "jsonl"]


def test_without_variants_each_tracker_comes_as_it_is() -> None:
    assert subjects([FAKE, JSONL], []) == [Subject(FAKE), Subject(JSONL)]


def test_a_dead_switch_is_labelled() -> None:
    (found,) = subjects([FAKE], [{"core": "true"}])
    assert found.label == "fake core=true (a repeat)"
    assert Subject(FAKE, {"core": "true", "colour": "red"}).label == "fake core=true,colour=red"


def test_what_no_tracker_has_is_refused() -> None:
    with pytest.raises(UsageError, match="no chosen tracker has the feature sound; they have: colour, core"):
        subjects([FAKE], [{"sound": "on"}])
    with pytest.raises(UsageError, match="fake: colour=green is not possible, only red or blue"):
        subjects([FAKE], [{"colour": "green"}])
