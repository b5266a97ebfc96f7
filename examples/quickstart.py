"""The smallest training that is worth looking at: fit a line by gradient descent, log it, look at the run.

python examples/quickstart.py
strobe run show latest
"""

from __future__ import annotations

import random

import strobe


def main() -> None:
    rng = random.Random(0)
    points = [(x, 3 * x - 1 + rng.gauss(0, 0.1)) for x in (rng.uniform(-1, 1) for _ in range(200))]
    with strobe.init(project="quickstart", config={"lr": 0.1, "epochs": 100}) as run:
        slope = offset = 0.0
        for epoch in range(run.config.epochs):
            errors = [(slope * x + offset - y, x) for x, y in points]
            slope -= run.config.lr * 2 * sum(error * x for error, x in errors) / len(points)
            offset -= run.config.lr * 2 * sum(error for error, _ in errors) / len(points)
            run.log(
                {"loss": sum(error**2 for error, _ in errors) / len(points), "line": {"slope": slope, "offset": offset}}
            )
            if epoch % 20 == 0:
                run.log({"errors": strobe.Histogram([error for error, _ in errors])}, commit=False)


if __name__ == "__main__":
    main()
