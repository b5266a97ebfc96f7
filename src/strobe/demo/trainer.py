"""The process that trains for the demo: `python -m strobe.demo.trainer past|live --parent PID --steps N`.

It lives as long as the process that shows it: an interrupt ends it, and so does the death of its parent.
"""

from __future__ import annotations

import os
import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable, Sequence

from strobe.api import Api
from strobe.demo import story
from strobe.demo.training import PROJECT, train


def main(arguments: Sequence[str] | None = None) -> int:
    """Train until there is nothing more to train, or somebody says stop."""
    parser = ArgumentParser(prog="python -m strobe.demo.trainer")
    parser.add_argument("role", choices=["past", "live"])
    parser.add_argument("--parent", type=int, required=True)
    parser.add_argument("--steps", type=int, default=story.PAST_STEPS)
    args = parser.parse_args(arguments)
    try:
        if args.role == "past":
            _train_past(args.steps, lambda step: _check_parent(args.parent, step))
        else:
            _train_live(args.parent)
    except KeyboardInterrupt:
        return 0
    return 0


def _train_past(steps: int, pace: Callable[[int], None]) -> None:
    """Train what is not there yet: the home is kept between shows."""
    there = {run.name for run in Api().runs(PROJECT) if run.state in ("finished", "failed")}
    for chapter in story.past(steps):
        if chapter.name not in there:
            train(
                chapter.plan, name=chapter.name, group=chapter.group, tags=chapter.tags, notes=chapter.notes, pace=pace
            )


def _train_live(parent: int) -> None:
    for name, plan in story.live():
        began = time.monotonic()

        def pace(step: int, began: float = began) -> None:
            _check_parent(parent, step)
            ahead_s = step / story.LIVE_STEPS_PER_S - (time.monotonic() - began)
            if ahead_s > 0:
                time.sleep(ahead_s)

        train(plan, name=name, tags=("demo", "live"), draw_every=story.LIVE_DRAW_EVERY, pace=pace)


def _check_parent(parent: int, step: int) -> None:
    # Windows keeps telling the pid of a parent that is gone; there a job object would be needed.
    if step % 20 == 0 and sys.platform != "win32" and os.getppid() != parent:
        raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
