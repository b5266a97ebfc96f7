"""A training process as the agent sees one; run as a program by the tests: python trainer.py HOME SECONDS [WRITER].

Stands alone (copied into zipapps): an entry, a journal, `ensure()`, then a row every 50 ms. Prints "ready" and how long
`ensure()` took. It never says that it has ended.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path


def main(home_path: str, seconds: str, writer: str = "aaaaaaaa") -> None:
    import msgspec

    from strobe import identity
    from strobe._version import __version__
    from strobe.agent import launch
    from strobe.home import Home, RunPath
    from strobe.journal import Header, Writer, event

    home = Home(Path(home_path))
    run_dir = home.run_dir(RunPath("local", "p", f"run-{writer}"))
    pid = os.getpid()
    here = {
        "pid": pid,
        "pid_started": identity.process_started(pid) or 0.0,
        "host": identity.host_id(),
        "boot_id": identity.boot_id(),
        "pid_namespace": identity.pid_namespace(),
    }
    journal = Writer(run_dir.journal, Header(entity="local", project="p", run=f"run-{writer}", writer=writer))
    journal.event(msgspec.convert({"time_ns": time.time_ns(), "type": "started"} | here, event.Started))
    home.active.mkdir(parents=True, exist_ok=True)
    entry = {"run_dir": str(run_dir.path), "writer": writer, "stats_interval_s": 0.5} | here
    (home.active / f"{writer}.tmp").write_bytes(msgspec.json.encode(entry))
    (home.active / f"{writer}.tmp").rename(home.active / f"{writer}.json")
    begun = time.perf_counter()
    launch.ensure(home, version=__version__)
    took = time.perf_counter() - begun
    print(f"ready {took:.6f} {launch.problem() or '-'}", flush=True)
    until = time.monotonic() + float(seconds)
    step = 0
    while time.monotonic() < until:
        journal.row({"loss": 1.0 / (step + 1)}, step)
        step += 1
        time.sleep(0.05)


if __name__ == "__main__":
    main(*sys.argv[1:])
