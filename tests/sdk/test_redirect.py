"""Capture at the file descriptors, each case in a real process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform == "win32", reason="POSIX only")]

_HEAD = """
import ctypes, os, subprocess, sys, time
from strobe.sdk.console.capture import ConsoleCapture
record = open(sys.argv[1], "a", buffering=1)
def emit(stream, text):
    record.write(f"{stream}|" + text.replace("\\n", "\\\\n") + "\\n")
capture = ConsoleCapture(emit, "redirect")
capture.start()
"""


def run(
    tmp_path: Path, body: str, *, timeout_s: float = 30
) -> tuple[subprocess.CompletedProcess[bytes], dict[str, str]]:
    """Run `body` under capture; return the finished process and what was recorded of each stream."""
    record = tmp_path / "record"
    done = subprocess.run(
        [sys.executable, "-c", _HEAD + body, str(record)], capture_output=True, timeout=timeout_s, check=False
    )
    recorded = {"stdout": "", "stderr": ""}
    for line in record.read_text().splitlines():
        stream, _, text = line.partition("|")
        recorded[stream] += text.replace("\\n", "\n")
    return done, recorded


def test_python_c_and_children_are_recorded_and_still_printed(tmp_path: Path) -> None:
    body = """
print("python")
libc = ctypes.CDLL(None)
libc.puts(b"c library")
libc.fflush(None)
subprocess.run(["sh", "-c", "echo child; echo child err >&2"])
os.write(1, "caf\\u00e9 \\u2588\\n".encode())
print("unfinished", end="")
capture.stop()
print(" and after")
"""
    done, recorded = run(tmp_path, body)
    assert done.returncode == 0, done.stderr
    assert sorted(recorded["stdout"].split("\n")) == sorted(["python", "c library", "child", "café █", "unfinished"])
    assert recorded["stderr"] == "child err\n"
    assert done.stdout.decode() == recorded["stdout"] + " and after\n"
    assert done.stderr == b"child err\n"


def test_c_code_that_holds_the_gil_and_prints_much_does_not_deadlock(tmp_path: Path) -> None:
    body = """
libc = ctypes.PyDLL(None)  # keeps the GIL during the call
line = b"x" * 1023 + b"\\n"
text = line * 4096
assert libc.write(1, text, len(text)) > 0
capture.stop()
"""
    done, recorded = run(tmp_path, body)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout) == 4 << 20
    assert len(recorded["stdout"]) == 4 << 20


@pytest.mark.parametrize("how", ["os.kill(os.getpid(), 9)", "os._exit(3)", "ctypes.string_at(0)"])
def test_the_last_words_of_a_dying_process_reach_the_terminal(tmp_path: Path, how: str) -> None:
    done, _ = run(tmp_path, f"import faulthandler; faulthandler.enable()\nos.write(1, b'last words\\n')\n{how}\n")
    assert done.stdout == b"last words\n"
    assert done.returncode != 0
    if "string_at" in how:
        assert b"Segmentation fault" in done.stderr


def test_a_child_that_outlives_the_capture_can_still_print(tmp_path: Path) -> None:
    body = """
child = subprocess.Popen(["sh", "-c", "sleep 0.3; echo late; echo still alive"])
began = time.monotonic()
capture.stop()
assert time.monotonic() - began < 2
print("stopped", flush=True)
child.wait()
"""
    done, recorded = run(tmp_path, body)
    assert done.returncode == 0, done.stderr
    assert done.stdout == b"stopped\nlate\nstill alive\n"
    assert recorded["stdout"] == ""


def test_a_forked_child_prints_into_the_parents_capture(tmp_path: Path) -> None:
    body = """
pid = os.fork()
if pid == 0:
    capture.after_fork()
    print("from the child", flush=True)
    capture.stop()
    os._exit(0)
os.waitpid(pid, 0)
print("from the parent")
capture.stop()
"""
    done, recorded = run(tmp_path, body)
    assert done.returncode == 0, done.stderr
    assert recorded["stdout"] == "from the child\nfrom the parent\n" == done.stdout.decode()


def test_if_the_pump_dies_printing_goes_on(tmp_path: Path) -> None:
    body = """
capture.stop()
from strobe.sdk.console import redirect
redirect._spawn_pump = lambda interpreter, fds: os.posix_spawn("/bin/sh", ["sh", "-c", "sleep 0.1"], {})
again = ConsoleCapture(emit, "redirect")
again.start()
print("before", flush=True)
again._redirect._thread.join(10)
print("after", flush=True)
subprocess.run(["echo", "child"])
again.stop()
print("end")
"""
    done, _ = run(tmp_path, body)
    assert done.returncode == 0, done.stderr
    assert done.stdout.decode().split() == ["before", "after", "child", "end"]


def test_descriptors_are_as_before_and_none_is_left_open(tmp_path: Path) -> None:
    body = """
capture.stop()
def open_files():
    found = {}
    for number in range(100):
        try:
            found[number] = os.readlink(f"/proc/self/fd/{number}")
        except OSError:
            pass
    return found
before = open_files()
for _ in range(3):
    again = ConsoleCapture(emit, "redirect")
    again.start()
    assert os.readlink("/proc/self/fd/1") != before[1]
    assert not os.get_inheritable(again._redirect._copies)
    again.stop()
after = open_files()
assert before == after, (before, after)
"""
    if not Path("/proc/self/fd").exists():
        pytest.skip("needs /proc")
    done, _ = run(tmp_path, body)
    assert done.returncode == 0, done.stderr.decode()


def test_a_descriptor_changed_by_somebody_else_is_not_restored(tmp_path: Path) -> None:
    body = """
other = os.open(sys.argv[1] + ".other", os.O_CREAT | os.O_WRONLY)
os.dup2(other, 1)
capture.stop()
os.write(1, b"to the other file")
"""
    done, _ = run(tmp_path, body)
    assert done.returncode == 0, done.stderr
    assert done.stdout == b""
    assert (tmp_path / "record.other").read_text() == "to the other file"


def test_many_open_files_are_no_problem(tmp_path: Path) -> None:
    body = """
capture.stop()
import resource
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
held = [os.open(os.devnull, os.O_RDONLY) for _ in range(1500)]
again = ConsoleCapture(emit, "redirect")
again.start()
print("many")
again.stop()
"""
    done, recorded = run(tmp_path, body)
    assert done.returncode == 0, done.stderr
    assert recorded["stdout"] == "many\n"


def test_without_an_interpreter_it_wraps_and_says_so(tmp_path: Path) -> None:
    body = """
capture.stop()
sys.frozen = True
again = ConsoleCapture(emit, "redirect")
again.start()
print("wrapped")
again.stop()
assert again.mode == "wrap"
"""
    done, recorded = run(tmp_path, body)
    assert done.returncode == 0, done.stderr
    assert recorded["stdout"] == "wrapped\n"
    assert done.stderr.count(b"console=redirect is not possible here") == 1


def test_a_terminal_stays_a_terminal(tmp_path: Path) -> None:
    """Run under a pseudo-terminal: isatty and size hold, bytes are unchanged, bars are collapsed."""
    import pty

    body = """
assert os.isatty(1) and os.get_terminal_size(1).columns == 101, os.get_terminal_size(1)
subprocess.run([sys.executable, "-c", "import sys; assert sys.stdout.isatty(); print('child on a terminal')"])
for n in range(100):
    os.write(1, b"\\r%3d%%" % (n + 1))
os.write(1, b"\\n")
capture.stop()
print("restored", os.isatty(1))
"""
    record = tmp_path / "record"
    master, slave = pty.openpty()
    import fcntl
    import struct
    import termios

    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 101, 0, 0))
    process = subprocess.Popen([sys.executable, "-c", _HEAD + body, str(record)], stdout=slave, stderr=subprocess.PIPE)
    os.close(slave)
    shown = b""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            piece = os.read(master, 65536)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    os.close(master)
    _, errors = process.communicate(timeout=10)
    assert process.returncode == 0, errors
    assert shown.startswith(b"child on a terminal\r\n")
    assert b"\r 99%\r100%\r\n" in shown
    assert shown.endswith(b"restored True\r\n")
    assert len(record.read_text().splitlines()) < 10
