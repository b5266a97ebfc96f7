"""The model of the demo: a network of two layers that learns to tell the arms of a spiral apart, in numpy.

Knows nothing of how it is trained or logged. Arrays carry their shape in the name: N points, B batch, D input, H
hidden, C classes.
"""

# ruff: noqa: N803, N806  shapes are written in capitals

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import strobe

# numpy is imported only when the demo runs; arrays say what they are by their names
Array = Any
Generator = Any

_COLORS = ((230, 97, 1), (94, 60, 153), (26, 150, 65), (202, 0, 32), (5, 113, 176))
_EXTENT = 1.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is trained, and for how long."""

    steps: int = 4000
    batch_size: int = 128
    hidden: int = 96
    arms: int = 3
    points_per_arm: int = 400
    learning_rate: float = 2e-3
    #: by how much the rate grows over the training: a test of where it becomes too high
    rate_growth: float = 1.0
    #: of the forward pass
    precision: Literal["float64", "float16"] = "float64"
    noise: float = 0.22
    #: of the weights and the order of the batches; the points are the same for all
    seed: int = 0


def spiral(rng: Generator, plan: Plan) -> tuple[Array, Array]:
    """Return shuffled points on the arms of a spiral, and the arm of each."""
    import numpy as np

    labels_N: Array = np.repeat(np.arange(plan.arms), plan.points_per_arm)
    radius_N = np.tile(np.linspace(0.05, 1.0, plan.points_per_arm), plan.arms)
    angle_N = labels_N * (2 * np.pi / plan.arms) + 4 * radius_N + rng.normal(0, plan.noise, labels_N.shape)
    points_N2 = np.stack([radius_N * np.cos(angle_N), radius_N * np.sin(angle_N)], axis=1)
    order = rng.permutation(len(labels_N))
    return points_N2[order], labels_N[order]


def batches(rng: Generator, size: int, plan: Plan) -> Iterator[Array]:
    """Yield the indices of each step's batch."""
    for _ in range(plan.steps):
        yield rng.integers(0, size, plan.batch_size)


class Network:
    """Two layers with a rectifier between them, trained by Adam."""

    def __init__(self, rng: Generator, plan: Plan) -> None:
        import numpy as np

        self.rate = plan.learning_rate
        self._growth = plan.rate_growth ** (1 / plan.steps)
        self._dtype = plan.precision
        self.weights: dict[str, Array] = {
            "hidden": rng.normal(0, 1.0, (3, plan.hidden)),
            "output": rng.normal(0, (2 / plan.hidden) ** 0.5, (plan.hidden + 1, plan.arms)),
        }
        self._moments = {layer: (np.zeros_like(w), np.zeros_like(w)) for layer, w in self.weights.items()}
        self._count = 0

    def learn(self, x_BD: Array, y_B: Array) -> tuple[float, float, dict[str, Array]]:
        """Take one step down the gradient; return loss, accuracy and the gradients."""
        import numpy as np

        h_BH, p_BC = self._forward(x_BD)
        rows = np.arange(len(y_B))
        loss = float(-np.log(p_BC[rows, y_B] + 1e-12).mean())
        accuracy = float((p_BC.argmax(axis=1) == y_B).mean())
        error_BC = p_BC.copy()
        error_BC[rows, y_B] -= 1
        error_BC /= len(y_B)
        back_BH = (error_BC @ self.weights["output"][:-1].T) * (h_BH > 0)
        gradients = {"hidden": _with_one(x_BD).T @ back_BH, "output": _with_one(h_BH).T @ error_BC}
        self._descend(gradients)
        return loss, accuracy, gradients

    def evaluate(self, x_BD: Array, y_B: Array) -> tuple[float, float]:
        """Return loss and accuracy."""
        import numpy as np

        p_BC = self.probabilities(x_BD)
        loss = float(-np.log(p_BC[np.arange(len(y_B)), y_B] + 1e-12).mean())
        return loss, float((p_BC.argmax(axis=1) == y_B).mean())

    def probabilities(self, x_BD: Array) -> Array:
        return self._forward(x_BD)[1]

    def _forward(self, x_BD: Array) -> tuple[Array, Array]:
        import numpy as np

        hidden, output = (self.weights[layer].astype(self._dtype) for layer in ("hidden", "output"))
        h_BH = np.maximum(_with_one(x_BD).astype(self._dtype) @ hidden, 0)
        z_BC = _with_one(h_BH).astype(self._dtype) @ output
        e_BC = np.exp((z_BC - z_BC.max(axis=1, keepdims=True)).astype("float64"))
        return h_BH.astype("float64"), e_BC / e_BC.sum(axis=1, keepdims=True)

    def _descend(self, gradients: dict[str, Array]) -> None:
        self._count += 1
        self.rate *= self._growth
        for layer, gradient in gradients.items():
            mean, square = self._moments[layer]
            mean += 0.1 * (gradient - mean)
            square += 0.001 * (gradient**2 - square)
            mean_now, square_now = mean / (1 - 0.9**self._count), square / (1 - 0.999**self._count)
            self.weights[layer] -= self.rate * mean_now / (square_now**0.5 + 1e-8)


def _with_one(x: Array) -> Array:
    """Add a column of ones, which carries the bias."""
    import numpy as np

    return np.concatenate([x, np.ones((len(x), 1))], axis=1)


def draw(network: Network, points_N2: Array, labels_N: Array, size: int = 160) -> Array:
    """Return a picture of which arm the network sees where, with the points on it."""
    import numpy as np

    axis = np.linspace(-_EXTENT, _EXTENT, size)
    grid_y, grid_x = axis[::-1, None] + 0 * axis, axis + 0 * axis[:, None]
    p_BC = network.probabilities(np.stack([grid_x.ravel(), grid_y.ravel()], axis=1))
    colors = np.array([_COLORS[arm % len(_COLORS)] for arm in range(p_BC.shape[1])], dtype=float)
    picture = 255 - (255 - p_BC @ colors) * 0.45
    picture = picture.reshape(size, size, 3)
    columns = ((points_N2[:, 0] + _EXTENT) / (2 * _EXTENT) * (size - 1)).round().astype(int).clip(0, size - 1)
    rows = ((_EXTENT - points_N2[:, 1]) / (2 * _EXTENT) * (size - 1)).round().astype(int).clip(0, size - 1)
    picture[rows, columns] = colors[labels_N]
    return picture.astype(np.uint8)


def predictions(network: Network, points_N2: Array, labels_N: Array) -> strobe.Table:
    """Return a table of the held-out points, the least certain first."""
    p_BC = network.probabilities(points_N2)
    rows = [
        [float(point[0]), float(point[1]), int(label), int(p.argmax()), float(p.max())]
        for point, label, p in zip(points_N2, labels_N, p_BC, strict=True)
    ]
    rows.sort(key=lambda row: row[4])
    return strobe.Table(columns=["x", "y", "arm", "predicted", "confidence"], data=rows)
