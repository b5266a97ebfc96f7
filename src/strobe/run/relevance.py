"""Which metrics a person wants to see first, and which way is better for each. Judged by name where nobody said."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from strobe.journal.digest import MetricDigest

_LOWER_IS_BETTER = frozenset(
    (
        *("loss", "losses", "err", "error", "errors", "mse", "mae", "rmse", "nll", "perplexity", "ppl", "wer", "cer"),
        *("fid", "kl", "divergence", "regret", "latency", "brier", "ece"),
    )
)
_HIGHER_IS_BETTER = frozenset(
    (
        *(
            "acc",
            "accuracy",
            "auc",
            "auroc",
            "auprc",
            "f1",
            "precision",
            "recall",
            "reward",
            "return",
            "returns",
            "score",
        ),
        *(
            "bleu",
            "rouge",
            "meteor",
            "iou",
            "miou",
            "map",
            "dice",
            "psnr",
            "ssim",
            "r2",
            "throughput",
            "success",
            "top1",
        ),
        *("top5", "ndcg", "mrr", "elo", "mfu"),
    )
)
_HELD_OUT = frozenset(("val", "valid", "validation", "eval", "evaluation", "test", "dev"))
_BOOKKEEPING = frozenset(
    ("epoch", "epochs", "step", "steps", "global", "iteration", "iter", "lr", "time", "timestamp", "runtime", "seconds")
)
_DETAIL = ("gradients/", "parameters/", "system/", "system.", "_")


def direction(name: str, digest: MetricDigest) -> str | None:
    """Return "minimize", "maximize", or None when neither the user nor the name tells."""
    if digest.goal in ("minimize", "maximize"):
        return digest.goal
    words = _words(name)
    if words & _LOWER_IS_BETTER:
        return "minimize"
    return "maximize" if words & _HIGHER_IS_BETTER else None


def best(name: str, digest: MetricDigest) -> tuple[float, int | None] | None:
    """Return the best value and its step; None without a finite value or a direction."""
    way = direction(name, digest)
    if way is None or digest.min > digest.max:
        return None
    return (digest.min, digest.min_step) if way == "minimize" else (digest.max, digest.max_step)


def by_relevance(replay: Any) -> list[tuple[str, MetricDigest]]:
    """Return the metrics of a `Replay`, the ones that tell most first, without those that the user hid."""
    metrics: Mapping[str, MetricDigest] = replay.metrics
    shown = [(name, digest) for name, digest in metrics.items() if not _is_hidden(replay, name)]
    return sorted(shown, key=lambda item: (_rank(*item), item[0]))


def _rank(name: str, digest: MetricDigest) -> int:
    if digest.goal is not None:
        return 0
    if name.startswith(_DETAIL):
        return 5
    words = _words(name)
    if direction(name, digest) is not None:
        return 1 if words & _HELD_OUT else 2
    if words <= _BOOKKEEPING or digest.min == digest.max:
        return 4
    return 3


def _is_hidden(replay: Any, name: str) -> bool:
    definition = replay.definition(name) if hasattr(replay, "definition") else None
    return bool(definition is not None and definition.hidden)


def _words(name: str) -> set[str]:
    return set(re.findall(r"[a-z]+[0-9]*", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()))
