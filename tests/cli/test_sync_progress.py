"""The progress line of `strobe sync`: bytes, rate and time left, from the last seconds."""

from __future__ import annotations

from strobe.cli.sync_progress import Progress, Standing

MB = 10**6


def standing(sent: int, left: int, *, files: int = 0, problem: str = "") -> Standing:
    return Standing(
        num_runs=5, num_done=3, sent_bytes=sent, left_bytes=left, num_files_left=files, problem=problem
    )  # fmt: skip


def test_bytes_rate_and_time_left() -> None:
    progress = Progress()
    progress.note(standing(0, 200 * MB), 100.0)
    progress.note(standing(30 * MB, 120 * MB, files=1200), 105.0)
    assert progress.line() == "3 of 5 runs, 30 MB sent, 6 MB/s, 120 MB to go, about 7.5s left, 1,200 files left"


def test_a_watch_of_hours_tells_of_the_last_seconds() -> None:
    progress = Progress()
    progress.note(standing(0, 500 * MB), 0.0)
    progress.note(standing(50 * MB, 0), 10.0)
    progress.note(standing(50 * MB, 20 * MB), 36_000.0)
    progress.note(standing(51 * MB, 10 * MB), 36_010.0)
    assert progress.line() == "3 of 5 runs, 51 MB sent, 100 kB/s, 10 MB to go, about 10s left"


def test_no_time_is_promised_while_nothing_moves_or_more_comes_than_goes() -> None:
    progress = Progress()
    progress.note(standing(0, 10 * MB), 0.0)
    assert progress.line() == "3 of 5 runs, 0 B sent, 0 B/s, 10 MB to go"
    progress.note(standing(MB, 12 * MB, problem="HTTP 503: full"), 5.0)
    assert progress.line() == "3 of 5 runs, 1 MB sent, 200 kB/s, 12 MB to go, HTTP 503: full"
