"""A training that logs one of everything: scalars, histograms, pictures, a table, artifacts, alerts, what it prints.

It uses the public API only, as any user's script would, and numpy for the arithmetic.
"""

# ruff: noqa: N803, N806  shapes are written in capitals

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

import strobe
from strobe.demo.spiral import Network, Plan, batches, draw, predictions, spiral
from strobe.errors import ArtifactError, MissingExtra

PROJECT = "demo"
_EVALUATE_EVERY = 100
_DATA_SEED = 7
_GREEN, _RED, _PLAIN = "\x1b[32m", "\x1b[31m", "\x1b[0m"


def train(
    plan: Plan | None = None,
    *,
    name: str | None = None,
    group: str | None = None,
    tags: Sequence[str] = ("demo",),
    notes: str | None = None,
    draw_every: int | None = None,
    pace: Callable[[int], None] = lambda step: None,
    say: Callable[[str], None] = print,
) -> str:
    """Train, log, and return the run's path; `pace` is called before each step, `say` with what a script prints."""
    try:
        import numpy as np
    except ImportError as exc:
        raise MissingExtra("the demo needs numpy and Pillow: pip install 'strobe[media]'") from exc
    plan = plan or Plan()
    points_N2, labels_N = spiral(np.random.default_rng(_DATA_SEED), plan)
    with strobe.init(
        project=PROJECT, name=name, group=group, job_type="train", tags=tags, notes=notes, config=asdict(plan)
    ) as run:
        run.define_metric("train/loss", summary="min", goal="minimize")
        run.define_metric("val/loss", summary="min", goal="minimize")
        run.define_metric("val/accuracy", summary="max", goal="maximize")
        _use_data(run, plan, points_N2, labels_N)
        with np.errstate(all="ignore"):  # one of the runs is meant to overflow
            _Training(run, plan, points_N2, labels_N, draw_every or plan.steps // 5 or 1, say).go(pace)
        return f"{run.entity}/{run.project}/{run.id}"


class _Training:
    def __init__(
        self, run: strobe.Run, plan: Plan, points_N2: Any, labels_N: Any, draw_every: int, say: Callable[[str], None]
    ) -> None:
        import numpy as np

        self.run, self.plan, self.draw_every, self.say = run, plan, draw_every, say
        self.rng = np.random.default_rng(plan.seed)
        self.network = Network(self.rng, plan)
        self.points_N2, self.labels_N = points_N2, labels_N
        split = len(labels_N) // 5
        self.held_out = points_N2[:split], labels_N[:split]
        self.seen = points_N2[split:], labels_N[split:]
        self.best = math.inf

    def go(self, pace: Callable[[int], None]) -> None:
        last = self.plan.steps - 1
        self.say(f"{len(self.seen[1])} points to learn from, {len(self.held_out[1])} held out, {self.plan.steps} steps")
        for step, batch in enumerate(batches(self.rng, len(self.seen[1]), self.plan)):
            pace(step)
            loss, accuracy, gradients = self.network.learn(self.seen[0][batch], self.seen[1][batch])
            self.run.log({"train/loss": loss, "train/accuracy": accuracy}, step=step)
            if not math.isfinite(loss):
                self._give_up(step)
                return
            if step % _EVALUATE_EVERY == 0 or step == last:
                self._evaluate(step, loss, gradients)
            if step % self.draw_every == 0 or step == last:
                picture = draw(self.network, self.points_N2, self.labels_N)
                self.run.log({"decision": strobe.Image(picture, caption=f"step {step}")}, step=step)
        self.run.log({"predictions": predictions(self.network, *self.held_out)}, step=last)
        self._keep_model()

    def _evaluate(self, step: int, train_loss: float, gradients: dict[str, Any]) -> None:
        import numpy as np

        loss, accuracy = self.network.evaluate(*self.held_out)
        norms = {layer: float(np.linalg.norm(gradient)) for layer, gradient in gradients.items()}
        self.run.log({"val/loss": loss, "val/accuracy": accuracy, "gradient_norm": norms}, step=step)
        if all(math.isfinite(norm) for norm in norms.values()):
            histograms = {f"gradients/{layer}": strobe.Histogram(found) for layer, found in gradients.items()}
            self.run.log(histograms, step=step)
        mark = f"{_GREEN}best{_PLAIN}" if loss < self.best else ""
        self.best = min(self.best, loss)
        self.say(f"step {step:>6}  train {train_loss:.4f}  val {loss:.4f}  accuracy {accuracy:.3f}  {mark}".rstrip())

    def _give_up(self, step: int) -> None:
        self.say(f"{_RED}the loss is not a number at step {step}; learning rate {self.network.rate:.3g}{_PLAIN}")
        text = f"at step {step}, the learning rate is {self.network.rate:.3g} by now"
        self.run.alert("The loss is not a number", text, level=strobe.AlertLevel.ERROR)
        self.run.finish(exit_code=1)

    def _keep_model(self) -> None:
        import numpy as np

        model = strobe.Artifact(
            "spiral-model", type="model", metadata={"val_loss": self.best, "steps": self.plan.steps}
        )
        with model.new_file("weights.npz", "wb") as stream:
            np.savez(stream, **self.network.weights)
        self.run.log_artifact(model)


def _use_data(run: strobe.Run, plan: Plan, points_N2: Any, labels_N: Any) -> None:
    """Say which data the run learns from, and keep it if it is new."""
    facts = {"arms": plan.arms, "points_per_arm": plan.points_per_arm, "noise": plan.noise}
    try:
        if run.use_artifact("spiral:latest").metadata == facts:
            return
    except ArtifactError:
        pass  # nobody has logged any yet
    data = strobe.Artifact("spiral", type="dataset", metadata=facts)
    with data.new_file("points.csv") as stream:
        stream.write("x,y,arm\n")
        stream.writelines(f"{x:.4f},{y:.4f},{arm}\n" for (x, y), arm in zip(points_N2, labels_N, strict=True))
    run.log_artifact(data)
