"""A benchmark program that ends as its job says: well, dead, never, or leaving a child. For tests of the parent."""

from __future__ import annotations

import subprocess
import sys
import time

from strobe.bench.swarm.programs.talk import Talk


def main() -> None:
    talk = Talk()
    talk.about("7.7", device="none")
    print("a library that prints")
    with talk.phase("create", 3, uids=5) as phase:
        for done in range(1, 4):
            phase.progress(done)
    with talk.phase("burn") as phase:
        end = time.process_time() + talk.job["cpu_s"]
        while time.process_time() < end:
            pass
        phase.seconds = 42.0
        phase.figures = {"good": 3, "count": 4}
    if talk.job["end"] == "die":
        sys.exit("no such luck")
    if talk.job["end"] == "hang":
        time.sleep(3600)  # longer than a test may take: whoever waits for it is told
    if talk.job["end"] == "leave":
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)", talk.job["mark"]])
    talk.finish()


if __name__ == "__main__":
    main()
