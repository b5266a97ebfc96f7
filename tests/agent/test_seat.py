"""The seat's files: names, state, and the marker that keeps many inits from starting many agents."""

from __future__ import annotations

import os
import time
from pathlib import Path

import msgspec
import pytest

from strobe import identity
from strobe.agent.seat import STARTING_S, Seat, State, is_newer, seat_key
from strobe.home import Home


@pytest.fixture
def seat(home: Home) -> Seat:
    home.agent.mkdir(parents=True)
    return Seat(home)


def test_key_is_a_file_name_that_tells_the_host() -> None:
    assert seat_key().startswith(identity.host_id()[:10])
    assert "/" not in seat_key()


@pytest.mark.parametrize("part", ["host_id", "boot_id", "pid_namespace"])
def test_another_host_boot_or_namespace_is_another_seat(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = seat_key()
    monkeypatch.setattr(identity, part, lambda: "other/place")
    assert seat_key() != before
    assert "/" not in seat_key()


def test_state_round_trip_leaves_no_temporary_file(seat: Seat) -> None:
    state = State(pid=1, pid_started=2.5, version="1.2", described=["aa"])
    seat.write_state(state)
    assert seat.read_state() == state
    assert os.listdir(seat.home.agent) == [f"{seat.key}.json"]


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"pid": 1}', b"null"])
def test_unreadable_state_is_no_state(seat: Seat, content: bytes) -> None:
    Path(seat.state_path).write_bytes(content)
    assert seat.read_state() is None


def test_state_of_a_later_version_is_understood(seat: Seat) -> None:
    Path(seat.state_path).write_text('{"pid": 1, "pid_started": 2.0, "version": "9", "novelty": []}')
    assert seat.read_state() == State(pid=1, pid_started=2.0, version="9")


def test_state_of_this_process_is_alive_and_of_a_reused_pid_is_not() -> None:
    pid = os.getpid()
    started = identity.process_started(pid)
    assert started is not None
    here = State(
        pid=pid,
        pid_started=started,
        version="1",
        host=identity.host_id(),
        boot_id=identity.boot_id(),
        pid_namespace=identity.pid_namespace(),
    )
    assert here.is_alive()
    assert not msgspec.structs.replace(here, pid_started=started - 100).is_alive()
    assert not msgspec.structs.replace(here, host="elsewhere").is_alive()


def test_one_start_at_a_time(seat: Seat) -> None:
    assert seat.claim_start()
    assert not seat.claim_start()
    seat.release_start()
    assert seat.claim_start()


@pytest.mark.parametrize("age_s", [STARTING_S + 5, -STARTING_S - 5])
def test_a_start_that_came_to_nothing_is_forgotten(seat: Seat, age_s: float) -> None:
    assert seat.claim_start()
    then = time.time() - age_s
    os.utime(seat.starting_path, (then, then))
    assert seat.claim_start()


@pytest.mark.parametrize(
    ("version", "other", "newer"),
    [
        ("0.1.0", "0.1.0", False),
        ("0.2.0", "0.1.9", True),
        ("0.10.0", "0.9.0", True),
        ("0.1.0", "0.2.0", False),
        ("1.0.dev3", "1.0", False),
        ("nonsense", "0.1", False),
        ("0.1", "", True),
    ],
)
def test_is_newer(version: str, other: str, newer: bool) -> None:
    assert is_newer(version, other) is newer
