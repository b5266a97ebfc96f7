"""Starting a process that is nobody's child: it outlives its starter, holds none of its pipes and leaves it no zombie.

On POSIX a shell is spawned (vfork: the cost does not grow with the memory of the caller), puts the agent in the
background and is gone at once, so the user's `os.wait()` never meets our process. Not os.fork(): that copies page
tables and runs the user's fork handlers. Part of `init()`'s import path: no `subprocess` unless on Windows.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress

_SHELL = "/bin/sh"
# "/" as the working directory keeps no mount busy. The list before & runs in a child that becomes the agent.
_SCRIPT = 'cd / && exec "$@" &'
_DESCRIPTORS = ("/proc/self/fd", "/dev/fd")


def has_shell() -> bool:
    """Tell whether the quick way exists; without it the agent has to fork itself away (see `strobe.agent.command`)."""
    return os.access(_SHELL, os.X_OK)


def spawn_detached(arguments: list[str], environment: dict[str, str], *, log_path: str, shell: bool = True) -> None:
    """Start `arguments` with stderr appended to `log_path` and return at once. Raises OSError."""
    if sys.platform == "win32":
        _spawn_windows(arguments, environment, log_path)
    elif shell:
        pid = _posix_spawn(_SHELL, ["sh", "-c", _SCRIPT, "sh", *arguments], environment, log_path)
        _reap(pid)
    else:
        import _thread

        pid = _posix_spawn(arguments[0], arguments, environment, log_path)
        _thread.start_new_thread(_reap, (pid,))


def _reap(pid: int) -> None:
    # Already reaped when the user ignores SIGCHLD or waits for any child in another thread.
    with suppress(ChildProcessError):
        os.waitpid(pid, 0)


if sys.platform != "win32":

    def _posix_spawn(file: str, arguments: list[str], environment: dict[str, str], log_path: str) -> int:
        actions: list[tuple[int, int] | tuple[int, int, int] | tuple[int, int, str, int, int]] = [
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
            (os.POSIX_SPAWN_OPEN, 2, log_path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600),
        ]
        # Whoever reads a pipe until its end must not wait for us; make's jobserver and shells hand down such pipes.
        actions += [(os.POSIX_SPAWN_CLOSE, fd) for fd in inheritable_descriptors()]
        try:
            return os.posix_spawn(file, arguments, environment, file_actions=actions, setsid=True, setsigmask=[])
        except NotImplementedError:  # no setsid here: the agent makes its own session
            return os.posix_spawn(file, arguments, environment, file_actions=actions, setsigmask=[])


def inheritable_descriptors() -> list[int]:
    """Return the open descriptors above stderr that a new program would get."""
    for directory in _DESCRIPTORS:
        try:
            names = os.listdir(directory)
        except OSError:
            continue
        return [fd for fd in map(int, names) if fd > 2 and _is_inheritable(fd)]
    return []


def _is_inheritable(fd: int) -> bool:
    try:
        return os.get_inheritable(fd)
    except OSError:  # the descriptor of the listing itself, or one that another thread has just closed
        return False


def _spawn_windows(arguments: list[str], environment: dict[str, str], log_path: str) -> None:
    import subprocess

    flags = sum(
        getattr(subprocess, name, 0)
        for name in ("DETACHED_PROCESS", "CREATE_NEW_PROCESS_GROUP", "CREATE_BREAKAWAY_FROM_JOB")
    )
    with open(log_path, "ab") as log:
        process = subprocess.Popen(
            arguments,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=log,
            close_fds=True,
            creationflags=flags,
        )
    process.returncode = 0  # nobody waits for it: keeps Popen from warning about that when it is collected
