"""Capture around sys.stdout and sys.stderr, in this process. Descriptors: test_redirect.py."""

from __future__ import annotations

import contextlib
import io
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from strobe import terminal
from strobe.sdk.console.capture import ConsoleCapture

Install = Callable[[], io.StringIO]


class Log:
    """Keeps what was emitted."""

    def __init__(self) -> None:
        self.entries: list[tuple[str, str]] = []

    def __call__(self, stream: str, text: str) -> None:
        self.entries.append((stream, text))

    @property
    def text(self) -> str:
        return "".join(text for _, text in self.entries)


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Install:
    """Gives stdout and stderr of our own, once called: between fixture and test pytest puts in its own again."""

    def put_in() -> io.StringIO:
        stream = io.StringIO()
        monkeypatch.setattr(sys, "stdout", stream)
        monkeypatch.setattr(sys, "stderr", io.StringIO())
        return stream

    return put_in


@contextlib.contextmanager
def capturing(mode: str = "wrap") -> Iterator[Log]:
    log = Log()
    capture = ConsoleCapture(log, mode)
    capture.start()
    try:
        yield log
    finally:
        capture.stop()


def test_both_streams_are_recorded_and_still_printed(install: Install) -> None:
    out = install()
    with capturing() as log:
        print("to out")
        print("to err", file=sys.stderr)
        sys.stdout.writelines(["a\n", "b\n"])
        print("unfinished", end="")
    assert out.getvalue() == "to out\na\nb\nunfinished"
    assert log.entries == [
        ("stdout", "to out\n"),
        ("stderr", "to err\n"),
        ("stdout", "a\n"),
        ("stdout", "b\n"),
        ("stdout", "unfinished"),
    ]


def test_the_stream_is_the_same_object_and_left_as_it_was(install: Install) -> None:
    out = install()
    before = dict(vars(out))
    with capturing():
        assert sys.stdout is out
        assert out.write("four") == 4
    assert vars(out) == before
    with capturing() as log:
        print("again")
    assert log.text == "again\n"


def test_handlers_that_hold_the_stream_are_recorded(install: Install) -> None:
    out = install()
    logger = logging.getLogger("strobe-test-console")
    handler = logging.StreamHandler(out)
    logger.addHandler(handler)
    with capturing() as log:
        logger.warning("held")
    logger.removeHandler(handler)
    assert log.text == "held\n"


def test_off_touches_nothing(install: Install) -> None:
    out = install()
    with capturing("off") as log:
        assert "write" not in vars(out)
        print("x")
    assert log.entries == []


def test_auto_wraps_and_unknown_modes_are_refused() -> None:
    assert ConsoleCapture(Log()).mode == "wrap"
    with pytest.raises(ValueError, match="use auto, wrap, redirect, off"):
        ConsoleCapture(Log(), "loud")


def test_start_and_stop_twice(install: Install) -> None:
    install()
    log = Log()
    capture = ConsoleCapture(log)
    capture.start()
    capture.start()
    print("once")
    capture.stop()
    capture.stop()
    print("after")
    assert log.text == "once\n"


def test_missing_streams(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", None)
    with capturing() as log:
        print("nowhere")
    assert log.entries == []


def test_stdout_and_stderr_may_be_one_object(install: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    out = install()
    monkeypatch.setattr(sys, "stderr", out)
    with capturing() as log:
        print("x", file=sys.stderr)
    assert log.entries == [("stdout", "x\n")]


def test_redirect_stdout_by_the_user_is_left_alone(install: Install) -> None:
    install()
    private = io.StringIO()
    with capturing() as log:
        with contextlib.redirect_stdout(private):
            print("private")
        print("public")
    assert (private.getvalue(), log.text) == ("private\n", "public\n")


def test_a_stream_replaced_meanwhile_is_not_restored(install: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    out = install()
    other = io.StringIO()
    with capturing():
        monkeypatch.setattr(sys, "stdout", other)
    assert sys.stdout is other
    assert "write" not in vars(out)


def test_somebody_wrapped_over_us(install: Install) -> None:
    out = install()
    seen: list[str] = []
    with capturing() as log:
        ours = out.write

        def theirs(text: str) -> int:
            seen.append(text)
            return ours(text)

        out.write = theirs  # type: ignore[method-assign]
        print("during")
    print("after")
    assert out.write is theirs
    assert (log.text, "".join(seen)) == ("during\n", "during\nafter\n")
    assert out.getvalue() == "during\nafter\n"


def test_captures_may_end_in_any_order(install: Install) -> None:
    out = install()
    first_log, second_log = Log(), Log()
    first, second = ConsoleCapture(first_log), ConsoleCapture(second_log)
    first.start()
    second.start()
    print("both")
    first.stop()
    print("second")
    second.stop()
    print("none")
    assert (first_log.text, second_log.text) == ("both\n", "both\nsecond\n")
    assert "write" not in vars(out)


class Slotted:
    """A stream that takes no attributes, as some C types and wrappers are."""

    __slots__ = ("texts",)
    encoding = "utf-8"

    def __init__(self) -> None:
        self.texts: list[str] = []

    def write(self, text: str) -> int:
        self.texts.append(text)
        return len(text)

    def flush(self) -> None:
        pass

    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        return 77


def test_a_stream_without_attributes_gets_a_stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    slotted: Any = Slotted()
    texts = slotted.texts
    monkeypatch.setattr(sys, "stdout", slotted)
    with capturing() as log:
        print("x")
        sys.stdout.writelines(["y\n"])
        assert (sys.stdout.isatty(), sys.stdout.fileno(), sys.stdout.encoding) == (True, 77, "utf-8")
    assert sys.stdout is slotted
    assert ("".join(texts), log.text) == ("x\ny\n", "x\ny\n")


def test_errors_of_the_stream_are_the_callers(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stdout", Broken())
    with capturing() as log, pytest.raises(BrokenPipeError):
        print("x")
    assert log.entries == []


def test_emit_that_prints_does_not_recurse(install: Install) -> None:
    out = install()
    emitted: list[str] = []

    def emit(stream: str, text: str) -> None:
        emitted.append(text)
        print("from emit")

    capture = ConsoleCapture(emit)
    capture.start()
    print("user")
    capture.stop()
    assert emitted == ["user\n"]
    assert out.getvalue() == "user\nfrom emit\n"


def test_emit_that_raises_never_hurts_print(install: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    out = install()
    monkeypatch.setattr(terminal, "_shared", terminal.Terminal(environ={}))
    calls = []

    def emit(stream: str, text: str) -> None:
        calls.append(text)
        raise RuntimeError("no")

    err = io.StringIO()
    monkeypatch.setattr(sys, "stderr", err)
    capture = ConsoleCapture(emit)
    capture.start()
    print("one")
    print("two")
    capture.stop()
    assert calls == ["one\n"]
    assert out.getvalue() == "one\ntwo\n"
    assert "no longer recorded: RuntimeError('no')" in err.getvalue()
    assert "write" not in vars(out)


def test_emit_may_wait_for_a_lock_whose_owner_prints(install: Install) -> None:
    install()
    lock = threading.Lock()
    is_waiting = threading.Event()
    log = Log()

    def emit(stream: str, text: str) -> None:
        is_waiting.set()
        with lock:
            log(stream, text)

    capture = ConsoleCapture(emit)
    capture.start()
    with lock:
        printer = threading.Thread(target=print, args=("from a thread",))
        printer.start()
        assert is_waiting.wait(5)
        print("from the owner of the lock")
    printer.join(5)
    capture.stop()
    assert log.entries == [("stdout", "from a thread\n"), ("stdout", "from the owner of the lock\n")]


def test_a_signal_handler_that_prints_in_the_middle(install: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    install()
    log = Log()
    capture = ConsoleCapture(log)
    capture.start()
    lines = capture._lines["stdout"]
    original = lines.write

    def write(text: str) -> None:
        monkeypatch.setattr(lines, "write", original)
        print("handler")
        original(text)

    monkeypatch.setattr(lines, "write", write)
    sys.stdout.write("main\n")
    capture.stop()
    assert sorted(log.text.split()) == ["handler", "main"]


def test_threads_lose_no_line(install: Install) -> None:
    install()
    with capturing() as log:
        threads = [
            threading.Thread(target=lambda name=name: [sys.stdout.write(f"{name}-{n}\n") for n in range(200)])
            for name in "abcd"
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(log.text.split()) == sorted(f"{name}-{n}" for name in "abcd" for n in range(200))


def test_lone_surrogates_are_made_encodable(install: Install) -> None:
    install()
    with capturing() as log:
        print("caf\udce9 é")
    assert log.text == "caf\\udce9 é\n"


def test_a_forked_child_is_silent_or_goes_on(install: Install) -> None:
    out = install()
    parent, child = Log(), Log()
    capture = ConsoleCapture(parent)
    capture.start()
    print("unfinished", end="")
    capture._lock.acquire()  # as a thread of the parent would hold it
    capture.after_fork(child)
    print("child")
    capture.after_fork()
    print("nobody")
    assert child.text == "child\n"
    assert "write" not in vars(out)
    capture.stop()
    assert parent.text == ""


@pytest.mark.slow
@pytest.mark.parametrize("how", ["os.kill(os.getpid(), 9)", "os._exit(1)"])
def test_a_killed_process_has_recorded_every_complete_line(how: str) -> None:
    read, write = os.pipe()
    script = f"""
import os, sys
from strobe.sdk.console.capture import ConsoleCapture
ConsoleCapture(lambda stream, text: os.write({write}, text.encode())).start()
for n in range(1000):
    print("line", n)
print("unfinished", end="")
{how}
"""
    with open(read) as recorded:
        subprocess.run([sys.executable, "-c", script], pass_fds=[write], stdout=subprocess.DEVNULL, check=False)
        os.close(write)
        assert recorded.read().split("\n") == [f"line {n}" for n in range(1000)] + [""]


@pytest.mark.slow
def test_a_real_signal_in_the_middle_of_printing() -> None:
    script = """
import signal, sys
from strobe.sdk.console.capture import ConsoleCapture
lines = []
capture = ConsoleCapture(lambda stream, text: lines.append(text))
capture.start()
count = 0
def handler(*_):
    global count
    count += 1
    print("tick", count)
signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
for n in range(20000):
    sys.stdout.write(f"line {n}\\n")
signal.setitimer(signal.ITIMER_REAL, 0)
capture.stop()
text = "".join(lines)
missing = [n for n in range(20000) if f"line {n}\\n" not in text]
assert not missing, missing[:5]
sys.stderr.write(f"{count > 0}")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, "True")


def test_importing_it_is_cheap() -> None:
    code = (
        "import sys, msgspec; before = set(sys.modules); "
        "import strobe.sdk.console.capture; print(*(set(sys.modules) - before))"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"subprocess", "pty", "unicodedata", "strobe.journal.screen"} & set(loaded)
