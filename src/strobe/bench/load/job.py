"""One worker process, from start to result: one profile on one subject, once.

The worker gets a directory that is also its home, an environment without the user's settings and without a way
to the network (online: but for the server), and a time limit. Whatever it leaves running is known by that home, and
ended.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from strobe.bench.load.catalog import Profile
from strobe.bench.load.variant import Subject
from strobe.bench.load.worker.process import processes_at_home

_START = Path(__file__).parent / "worker" / "start.py"
_KEPT_VARIABLES = ("PATH", "LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH", "SYSTEMROOT")
# Nobody listens on port 9 here: a library that would phone home fails at once instead of waiting for a time-out.
_NO_NETWORK = {
    "HTTP_PROXY": "http://127.0.0.1:9",
    "HTTPS_PROXY": "http://127.0.0.1:9",
    "http_proxy": "http://127.0.0.1:9",
    "https_proxy": "http://127.0.0.1:9",
    "NO_PROXY": "localhost,127.0.0.1,::1",
    "no_proxy": "localhost,127.0.0.1,::1",
    "DO_NOT_TRACK": "1",
}


@dataclass(frozen=True, slots=True)
class Server:
    """A server and a key for it."""

    url: str
    key: str
    version: str = ""

    def __repr__(self) -> str:  # keys do not belong in tracebacks
        return f"Server({self.url!r})"

    def variables(self) -> dict[str, str]:
        """Return what tells a tracker of it."""
        host = urlsplit(self.url).hostname or ""
        direct = f"{_NO_NETWORK['NO_PROXY']},{host}"
        return {"STROBE_BASE_URL": self.url, "STROBE_API_KEY": self.key, "NO_PROXY": direct, "no_proxy": direct}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a job gave: metrics, or the reason why not."""

    metrics: dict[str, float]
    version: str = ""
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One measurement to make."""

    profile: Profile
    subject: Subject
    python: Path
    mode: str
    options: dict[str, float]
    timeout_s: float
    #: what runs are sent to in online mode
    server: Server | None = None

    def run(self, parent: Path | None = None) -> Outcome:
        """Run the worker in a temporary directory below `parent` (default: the system's) and remove that."""
        directory = Path(tempfile.mkdtemp(prefix="load-bench-", dir=parent))
        try:
            return self._run_in(directory)
        finally:
            _end_all_of(directory / "home")
            shutil.rmtree(directory, ignore_errors=True)

    def _run_in(self, directory: Path) -> Outcome:
        for name in ("home", "work", "tmp"):
            (directory / name).mkdir()
        job, result, log = directory / "job.json", directory / "result.json", directory / "log.txt"
        job.write_text(json.dumps(self._description(directory / "work", result)), encoding="utf-8")
        environment = self._environment(directory)
        with log.open("wb") as output:
            worker = subprocess.Popen(
                [str(self.python), "-I", str(_START), str(job)],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                cwd=directory / "work",
                env=environment,
                start_new_session=True,
            )
            try:
                code = worker.wait(self.timeout_s)
            except subprocess.TimeoutExpired:
                return Outcome({}, error=f"not done after {self.timeout_s:.0f} s")
            finally:
                if worker.poll() is None:  # timed out, or Ctrl-C
                    worker.kill()
                    worker.wait()
        if code or not result.is_file():
            return Outcome({}, error=_last_line(log) or f"exit code {code}")
        found = json.loads(result.read_text(encoding="utf-8"))
        return Outcome(found["metrics"], found["version"])

    def _description(self, work: Path, result: Path) -> dict[str, object]:
        return {
            "tracker": str(self.subject.tracker.path.resolve()),
            "profile": str(self.profile.path.resolve()),
            "directory": str(work),
            "mode": self.mode,
            "features": self.subject.features,
            "options": self.options,
            "result": str(result),
        }

    def _environment(self, directory: Path) -> dict[str, str]:
        kept = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
        return {
            **kept,
            **_NO_NETWORK,
            **self.subject.tracker.environment,
            **(self.server.variables() if self.server else {}),
            "HOME": str(directory / "home"),
            "TMPDIR": str(directory / "tmp"),
        }


def _last_line(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return lines[-1][:300] if lines else ""


def _end_all_of(home: Path) -> None:
    """End the processes that a job left behind: services and agents, however detached."""
    for pid in processes_at_home(str(home)):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
