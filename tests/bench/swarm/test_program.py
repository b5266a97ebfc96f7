"""A benchmark program is run, heard and measured; whatever becomes of it, nothing of it is left."""

from __future__ import annotations

import subprocess
import sys
import time
import uuid

import psutil
import pytest

from strobe.bench.swarm.event import About, Began, Ended, Progress, parse
from strobe.bench.swarm.program import Listener, Outcome, Phase, Program, _Conversation
from strobe.errors import Error

COMMAND = [sys.executable, "-m", "tests.bench.swarm.fake_program"]


class Heard(Listener):
    def __init__(self) -> None:
        self.events: list[object] = []

    def about(self, event: About) -> None:
        self.events.append(("about", event.version, event.facts))

    def began(self, event: Began) -> None:
        self.events.append(("began", event.phase, event.total, event.figures))

    def progress(self, event: Progress) -> None:
        self.events.append(("progress", event.done, event.total))

    def ended(self, phase: Phase) -> None:
        self.events.append(("ended", phase.name))


def run(end: str, *, cpu_s: float = 0.0, timeout_s: float = 30.0, mark: str = "") -> tuple[Outcome, list[object]]:
    heard = Heard()
    outcome = Program(COMMAND, {"end": end, "cpu_s": cpu_s, "mark": mark}, timeout_s=timeout_s).run(heard)
    return outcome, heard.events


def test_phases_are_told_as_they_go_and_measured() -> None:
    outcome, events = run("well", cpu_s=0.3)
    assert outcome.error is None
    assert outcome.version == "7.7"
    assert events[:2] == [("about", "7.7", {"device": "none"}), ("began", "create", 3, {"uids": 5})]
    assert ("progress", 3, 3) in events
    assert events[-2:] == [("began", "burn", 0, {}), ("ended", "burn")]
    burn = outcome.phases["burn"]
    assert (burn.seconds, burn.figures) == (42.0, {"good": 3, "count": 4})
    assert 0.25 < burn.cpu_s < 2.0  # the kernel counts in hundredths
    assert outcome.phases["create"].cpu_s < burn.cpu_s
    assert 1e6 < outcome.memory_bytes < 1e9


def test_a_program_that_dies_says_why_and_keeps_what_was_measured() -> None:
    outcome, _ = run("die")
    assert outcome.error == "no such luck"
    assert set(outcome.phases) == {"create", "burn"}


def test_the_last_words_of_a_program_are_heard_although_it_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    read = _Conversation._read

    def read_late(self: _Conversation) -> None:
        put = self._lines.put

        def put_late(line: bytes | None) -> None:
            if line is not None and b'"finished"' in line:  # as on a machine that has other things to do
                self._process.wait(20)
                time.sleep(1.0)
            put(line)

        monkeypatch.setattr(self._lines, "put", put_late)
        read(self)

    monkeypatch.setattr(_Conversation, "_read", read_late)
    outcome, _ = run("well")
    assert outcome.error is None


def test_a_program_that_hangs_is_ended() -> None:
    outcome, _ = run("hang", timeout_s=3.0)
    assert outcome.error == "not done after 3 s; --timeout gives more"


def test_a_child_that_is_left_behind_is_ended() -> None:
    before = set(psutil.Process().children(recursive=True))
    mark = uuid.uuid4().hex  # another test run of this machine may have such a child too
    outcome, _ = run("leave", mark=mark)
    assert outcome.error is None
    left = [one for one in psutil.process_iter(["cmdline"]) if mark in (one.info["cmdline"] or [])]
    assert not psutil.wait_procs(left, timeout=10)[1]
    assert set(psutil.Process().children(recursive=True)) <= before


@pytest.mark.parametrize(("is_leader", "code"), [(False, 1), (True, -9)])
def test_a_program_ends_with_whoever_started_it(is_leader: bool, code: int) -> None:
    job = b'{"end": "hang", "cpu_s": 0}\n'
    with subprocess.Popen(
        COMMAND, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=is_leader
    ) as process:
        assert process.stdin is not None
        process.stdin.write(job + b"\n" * 4)
        process.stdin.close()
        try:
            assert process.wait(20) == code
        finally:
            process.kill()


@pytest.mark.parametrize("line", ["", "hello", "{}", '{"event": "ended", "phase": 7}'])
def test_what_is_no_event_is_told(line: str) -> None:
    with pytest.raises(Error, match="no event"):
        parse(line)


def test_events_are_read() -> None:
    assert parse('{"event": "ended", "phase": "get", "seconds": 1.5, "figures": {"n": 2}}') == Ended(
        "get", 1.5, {"n": 2}
    )
