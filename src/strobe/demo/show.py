"""The demo on stage: the runs of its home are served by this process while others train into it.

The one idea: everything that is started is a child of this process and ends with it, in order: the trainings are
interrupted, as by Ctrl-C, so that their runs end as runs do, then the agent is asked to go. A child that loses its
parent in any other way notices and goes by itself.
"""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from types import TracebackType
from typing import IO

from strobe.agent.lifecycle import stop
from strobe.demo.home import child_environment
from strobe.errors import MissingExtra, UsageError
from strobe.home import Home

_ROLES = ("live", "past")
#: how long a training may take to end its run
_PATIENCE_S = 20.0


class Trainings:
    """The processes that train, from `start` to the end of the block."""

    def __init__(self, home: Home, *, steps: int, say: Callable[[str], None]) -> None:
        self._home, self._steps, self._say = home, steps, say
        self._is_over = False
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._log: IO[bytes] | None = None
        self._watchers: list[threading.Thread] = []
        self._log_path = home.path / "demo.log"

    def __enter__(self) -> Trainings:
        return self

    def start(self) -> None:
        """Start them, the one that is watched first."""
        self._log = self._log_path.open("wb")
        for role in _ROLES:
            command = [sys.executable, "-m", "strobe.demo.trainer", role]
            self._running[role] = subprocess.Popen(
                [*command, "--parent", str(os.getpid()), "--steps", str(self._steps)],
                env=child_environment(self._home, os.environ),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,  # their runs have it
                stderr=self._log,
                # Ctrl-C is for this process, which passes it on when the time has come.
                start_new_session=sys.platform != "win32",
                creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
            )
            watcher = threading.Thread(target=self._watch, args=(role,), name=f"strobe-demo-{role}", daemon=True)
            self._watchers.append(watcher)
            watcher.start()

    def failed(self) -> str:
        """Return what is known of a training that failed; nothing if none has."""
        codes = {role: process.poll() for role, process in self._running.items()}
        bad = [f"{role} (exit code {code})" for role, code in codes.items() if code]
        return f"a training failed: {', '.join(bad)}; see {self._log_path}" if bad else ""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._is_over = True
        for process in self._running.values():
            if process.poll() is None:
                process.send_signal(getattr(signal, "CTRL_BREAK_EVENT", signal.SIGINT))
        for process in self._running.values():
            try:
                process.wait(_PATIENCE_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for watcher in self._watchers:
            watcher.join()
        if self._log is not None:
            self._log.close()
        if self._running:
            stop(self._home)

    def _watch(self, role: str) -> None:
        code = self._running[role].wait()
        if code and not self._is_over:
            self._say(self.failed())


def show(
    home: Home,
    *,
    port: int,
    steps: int,
    say: Callable[[str], None],
    on_address: Callable[[str], None],
    check: Callable[[str, Callable[[], str]], str] | None = None,
) -> int:
    """Serve and train until Ctrl-C, or until the check is done; return the exit code.

    `on_address` gets the page's address once it answers; `check` gets it and a way to ask what has failed, returns what
    it has found, and raises what is wrong.
    """
    try:
        from strobe.server.local.serve import serve_home
        from strobe.server.log import open_log
        from strobe.server.serve import Listen
    except ModuleNotFoundError as error:
        raise MissingExtra(
            f"`strobe demo` needs {error.name}; pip install 'strobe[server,media]', or see `strobe demo --no-ui`"
        ) from error
    log = open_log("text", level=logging.WARNING)
    failures: list[Exception] = []
    with Trainings(home, steps=steps, say=say) as trainings:
        checker: list[threading.Thread] = []

        def look(url: str) -> None:
            assert check is not None
            try:
                say(check(url, trainings.failed))
            except Exception as error:  # noqa: BLE001  # whatever it is, it is raised again below, in the main thread
                failures.append(error)
            finally:
                signal.raise_signal(signal.SIGINT)  # ends the server as Ctrl-C does

        def on_ready(url: str) -> None:
            trainings.start()
            on_address(url)
            if check is not None:
                checker.append(threading.Thread(target=look, args=(url,), name="strobe-demo-check"))
                checker[0].start()

        try:
            elsewhere = serve_home(home, Listen(port=port), log, on_ready)
        except UsageError:
            elsewhere = serve_home(home, Listen(port=0), log, on_ready)  # somebody else has our usual port
        for thread in checker:
            thread.join()
    if failures:
        raise failures[0]
    if elsewhere is not None:
        say(f"another demo is on stage already{f' at {elsewhere}' if elsewhere else ''}")
        if elsewhere:
            on_address(elsewhere)
    return 0
