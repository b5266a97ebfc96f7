"""Which runs the demo has: some that are over, one of which went wrong, and one that is being trained."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from strobe.demo.spiral import Plan

#: steps of a run that is over, and of one that is watched: so many a second
PAST_STEPS = 1500
LIVE_STEPS = 40_000
LIVE_STEPS_PER_S = 40.0
#: a picture about every ten seconds
LIVE_DRAW_EVERY = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Chapter:
    """A run that is over by the time somebody looks."""

    name: str
    plan: Plan
    group: str
    tags: tuple[str, ...] = ("demo",)
    notes: str | None = None


def past(steps: int = PAST_STEPS) -> list[Chapter]:
    """Return the runs that are over."""
    plan = Plan(steps=steps)
    chapters = [
        Chapter(name=f"baseline-{seed}", plan=replace(plan, seed=seed), group="baseline", tags=("demo", "baseline"))
        for seed in range(3)
    ]
    chapters += [
        Chapter(name=f"wide-{seed}", plan=replace(plan, hidden=192, seed=seed), group="wide") for seed in range(2)
    ]
    return [
        *chapters,
        Chapter(name="small-batch", plan=replace(plan, batch_size=16), group="batch"),
        Chapter(name="slow", plan=replace(plan, learning_rate=2e-4), group="rate"),
        Chapter(
            name="rate-test",
            plan=replace(plan, learning_rate=1e-3, rate_growth=1e8, precision="float16"),
            group="rate",
            tags=("demo", "diverged"),
            notes="The learning rate grows until half precision overflows: first the loss rises, then it is NaN.",
        ),
    ]


def live() -> Iterator[tuple[str, Plan]]:
    """Yield the runs that are watched, one after the other, without end."""
    seed = 10
    while True:
        yield "live", Plan(steps=LIVE_STEPS, learning_rate=3e-4, noise=0.22, hidden=128, seed=seed)
        seed += 1
