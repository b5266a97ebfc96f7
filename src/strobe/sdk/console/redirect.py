"""Redirection: file descriptors 1 and 2 lead to a pump (pump.py), which feeds the terminal and hands back a copy.

This is the side of the training process: it swaps the descriptors, starts the pump, reads the copies on a thread, and
puts everything back. If the pump dies, output goes straight to the terminal again; this process holds the pipes open
itself meanwhile, so that nobody's print fails. POSIX only. Says what was printed; knows nothing of lines or journals.
"""

from __future__ import annotations

import codecs
import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress

_STOP_S = 2.0
_INTERPRETERS = ("python", "pypy", "graalpy")
_KEPT = ("PATH", "HOME", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH")


class CannotRedirect(Exception):
    """Descriptors cannot be captured here; the message says why."""


class _Stream:
    """One redirected descriptor: where it led, and the pipe or pseudo-terminal in its place."""

    def __init__(self, name: str, number: int) -> None:
        self.name = name
        self.number = number
        self.original = os.dup(number)
        # A program that asks whether it prints to a terminal must get the same answer as before.
        self.reading, self.writing = _open_terminal(number) if os.isatty(number) else os.pipe()
        status = os.fstat(self.writing)
        self.identity = (status.st_dev, status.st_ino)
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def redirect(self) -> None:
        os.dup2(self.writing, self.number)
        os.close(self.writing)
        self.writing = -1

    def restore(self) -> None:
        with suppress(OSError):
            status = os.fstat(self.number)
            if (status.st_dev, status.st_ino) == self.identity:
                os.dup2(self.original, self.number)

    def close(self) -> None:
        for fd in (self.original, self.reading, self.writing):
            if fd >= 0:
                os.close(fd)


class Redirect:
    """Calls `take(name, text)` on a thread of its own with what is written to descriptors 1 and 2."""

    def __init__(self, take: Callable[[str, str], None]) -> None:
        self._take = take
        self._streams: list[_Stream] = []
        self._copies = self._control = -1
        self._thread: threading.Thread | None = None
        self._is_stopping = False

    def start(self) -> None:
        """Raise CannotRedirect or OSError with everything as it was, or capture from here on."""
        if sys.platform == "win32":
            raise CannotRedirect("Windows has no pseudo-terminals that a process can put under itself")
        interpreter = _find_interpreter()
        flush_streams()
        far_ends: list[int] = []
        try:
            for name, number in (("stdout", 1), ("stderr", 2)):
                self._streams.append(_Stream(name, number))
            self._copies, copies_end = os.pipe()
            control_end, self._control = os.pipe()
            far_ends = [copies_end, control_end]
            pairs = [fd for stream in self._streams for fd in (stream.reading, stream.original)]
            starter = _spawn_pump(interpreter, [*pairs, *far_ends])
        except OSError:
            self._close()
            raise
        finally:
            for fd in far_ends:
                os.close(fd)
        for stream in self._streams:
            stream.redirect()
        self._thread = threading.Thread(target=self._read, args=(starter,), name="strobe-console", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Put the descriptors back and wait (two seconds at most) until all that was printed has been taken."""
        self._is_stopping = True
        flush_streams()
        for stream in self._streams:
            stream.restore()
        os.close(self._control)
        self._control = -1
        if self._thread is not None:
            self._thread.join(_STOP_S)
            if (
                self._thread.is_alive()
            ):  # it still reads from these; better a few descriptors lost than a wrong one read
                return
        self._close()

    def forget(self) -> None:
        """In a forked child: let go of what is the parent's. The child's output goes on into the parent's capture."""
        self._close()

    def _close(self) -> None:
        for stream in self._streams:
            stream.close()
        for fd in (self._copies, self._control):
            if fd >= 0:
                os.close(fd)
        self._streams, self._copies, self._control = [], -1, -1

    def _read(self, starter: int) -> None:
        with suppress(ChildProcessError):
            os.waitpid(starter, 0)
        with open(self._copies, "rb", closefd=False) as copies:
            while head := copies.read(5):
                piece = copies.read(int.from_bytes(head[1:], "little"))
                stream = self._streams[head[0]]
                if text := stream.decoder.decode(piece):
                    self._take(stream.name, text)
        for stream in self._streams:
            if text := stream.decoder.decode(b"", final=True):
                self._take(stream.name, text)
        if not self._is_stopping:
            self._carry_on_without_pump()

    def _carry_on_without_pump(self) -> None:
        for stream in self._streams:
            stream.restore()
            # What was on its way to the pump is for the terminal; there is nobody else left to bring it.
            os.set_blocking(stream.reading, False)
            with suppress(OSError):
                while piece := os.read(stream.reading, 65536):
                    os.write(stream.original, piece)


def flush_streams() -> None:
    """Have everything that was printed, by Python or through C's stdio, leave its buffers."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, OSError, ValueError):
            stream.flush()
    with suppress(ImportError, OSError, AttributeError):
        import ctypes

        ctypes.CDLL(None).fflush(None)


def _find_interpreter() -> str:
    for candidate in (sys.executable, getattr(sys, "_base_executable", None)):
        # By its name: running again an application that happens to embed Python would do anything but pump.
        if candidate and os.path.basename(candidate).startswith(_INTERPRETERS) and not getattr(sys, "frozen", False):
            return candidate
    raise CannotRedirect(f"no Python interpreter to run beside this one, only {sys.executable!r}")


def _spawn_pump(interpreter: str, descriptors: list[int]) -> int:
    """Start the pump with `descriptors` and return the process that starts it, which ends at once."""
    from pkgutil import get_data

    path = os.path.join(os.path.dirname(__file__), "pump.py")
    # Inside a zip there is no such file, but there is its text.
    program = [path] if os.path.isfile(path) else ["-c", (get_data(__package__ or "", "pump.py") or b"").decode()]
    first = max(descriptors) + 1
    # dup2 inside the new process: no descriptor is ever inheritable here, where another thread may start a process.
    actions: list[tuple[int, int, int] | tuple[int, int, str, int, int]] = [
        (os.POSIX_SPAWN_DUP2, fd, first + index) for index, fd in enumerate(descriptors)
    ]
    for number in range(3):
        actions.append((os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0))
    numbers = [str(first + index) for index in range(len(descriptors))]
    environment = {name: os.environ[name] for name in _KEPT if name in os.environ}
    return os.posix_spawn(
        interpreter,
        [interpreter, "-I", "-S", *program, *numbers],
        environment,
        file_actions=actions,
        setpgroup=0,  # a Ctrl-C meant for the training must not end it before it is on its own
        setsigmask=[],
    )


def _open_terminal(like: int) -> tuple[int, int]:
    """Return (reading, writing) ends of a pseudo-terminal of the size of `like` that changes no byte."""
    import fcntl
    import termios

    reading, writing = os.openpty()
    modes = termios.tcgetattr(writing)
    modes[1] &= ~termios.OPOST  # "\n" stays "\n": the real terminal does what is to be done
    modes[3] &= ~termios.ECHO
    termios.tcsetattr(writing, termios.TCSANOW, modes)
    size = fcntl.ioctl(like, termios.TIOCGWINSZ, bytes(8))
    fcntl.ioctl(writing, termios.TIOCSWINSZ, size)
    return reading, writing
